import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { globSync } from 'tinyglobby'
import { defineConfig } from 'vitest/config'
import { summary } from './test/helpers/summary-reporter.ts'

/** Where a machine-readable report goes besides the terminal, if anywhere. */
const report = process.env.WALLETLAKE_TEST_REPORT

const MINUTE_MS = 60_000

/**
 * The test files that have tests of the selected tags. A file that has none is not loaded: for `--tags-filter=long`, that is
 * two thirds of them.
 */
function selectedFiles(): string[] {
  const filter = process.argv.find((argument) => argument.startsWith('--tags-filter='))
  const isSelected: Record<string, (text: string) => boolean> = {
    '--tags-filter=long': (text) => /@module-tag long|'long'|testSample\(/.test(text),
    '--tags-filter=!long': (text) => !text.includes('@module-tag long'),
  }
  const select = isSelected[filter ?? ''] ?? (() => true)
  return globSync('test/**/*.test.ts').filter((file) => select(readFileSync(file, 'utf8')))
}

// With this variable every start of Node reads a file of certificates, which is most of the time of a short command.
delete process.env.NODE_EXTRA_CA_CERTS

export default defineConfig({
  test: {
    include: selectedFiles(),
    tags: [
      {
        name: 'long',
        description: 'repeats a guarantee that a shorter test holds, more often or with other programs',
        timeout: 60 * MINUTE_MS,
      },
    ],
    globalSetup: ['test/helpers/memory-folder.ts', 'test/helpers/shared-exports.ts'],
    // On a busy machine V8 otherwise collects so often that half of the processor time goes to collections.
    execArgv: ['--heap-growing-percent=200'],
    // Servers of tests are on this machine, whatever proxy its user has; tests of proxies set their own.
    env: { no_proxy: '*', NO_PROXY: '*' },
    // Loading the modules again for each file takes a fifth of the processor time of small test files. A file must
    // restore what it changes outside its temporary folders.
    isolate: false,
    setupFiles: ['test/helpers/restore-environment.ts'],
    // Limits only end a test that hangs: a busy machine may be twenty times slower than an idle one.
    testTimeout: 20 * MINUTE_MS,
    hookTimeout: 20 * MINUTE_MS,
    expect: { poll: { timeout: 10 * MINUTE_MS } },
    // One more than cores, because some tests wait.
    maxWorkers: availableParallelism() + 1,
    slowTestThreshold: MINUTE_MS,
    reporters: [
      'default',
      summary,
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', object]]),
    ],
  },
})
