#!/usr/bin/env node
import { guardOutput } from './cli/guard-output.ts'
import { main, reportFailure } from './cli/main.ts'

const argv = process.argv.slice(2)
guardOutput((error) => {
  process.exitCode = reportFailure(error, argv)
})
const exit = await main(argv)
// What failed while stdout was written stands.
process.exitCode ??= exit
