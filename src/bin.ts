#!/usr/bin/env node
import { main } from './cli/main.ts'
import { compileLate, keepHeapSmall } from './core/v8.ts'

keepHeapSmall()
compileLate()

// A reader that has seen enough (`walletlake plan … | head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EPIPE') throw fault
  })
}

process.exitCode = await main(process.argv.slice(2))
