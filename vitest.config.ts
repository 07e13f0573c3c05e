import { defineConfig } from 'vitest/config'
import { BaseSequencer, type Reporter, type TestSpecification } from 'vitest/node'
import { missingPrograms } from './test/helpers/programs.ts'

/** Where a machine-readable report goes besides the terminal, if anywhere. */
const report = process.env.WALLETLAKE_TEST_REPORT

/** Short files whose tests take minutes: begun last, one of them would run alone in the end. */
const LONG = [
  'e2e/scenarios',
  'survive/crash',
  'load/incremental',
  'survive/changes',
  'survive/faults',
  'load/chain-ids',
  'e2e/bad-pages',
  'e2e/queue-rounds',
  'export/tamperings',
  'survive/disk',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`${name}.test.ts`))
      return at < 0 ? LONG.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/** Names each missing program once, after the results. */
const missing: Reporter = {
  onTestRunEnd() {
    for (const program of missingPrograms())
      process.stdout.write(`not installed: ${program}; its tests were skipped\n`)
  },
}

// With this variable every start of Node reads a file of certificates, which is most of the time of a short command.
delete process.env.NODE_EXTRA_CA_CERTS

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests of more than about three seconds of processor time.
    tags: [{ name: 'long' }],
    globalSetup: ['test/helpers/shared-exports.ts'],
    // On a busy machine V8 otherwise collects so often that half of the processor time goes to collections.
    execArgv: ['--heap-growing-percent=200'],
    // Servers of tests are on this machine, whatever proxy its user has; tests of proxies set their own.
    env: { no_proxy: '*', NO_PROXY: '*' },
    // Loading the modules again for each file takes a fifth of the processor time of small test files. A file must
    // restore what it changes outside its temporary folders.
    isolate: false,
    setupFiles: ['test/helpers/restore-environment.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What a test waits for may take long on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // Much of the time goes to programs that tests start and to answers they wait for.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: [
      'default',
      missing,
      ...(report === undefined ? [] : [['json', { outputFile: report }] as ['json', object]]),
    ],
  },
})
