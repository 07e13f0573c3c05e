#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { main } from './cli/main.ts'
import { keepHeapSmall } from './heap.ts'

keepHeapSmall()
// Pages live short: a young generation that stays small keeps the process small, at no cost that could be measured.
setFlagsFromString('--semi-space-growth-factor=1')

// A reader that has seen enough (`walletlake plan … | head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EPIPE') throw fault
  })
}

process.exitCode = await main(process.argv.slice(2))
