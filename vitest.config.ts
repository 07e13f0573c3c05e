import { defineConfig } from 'vitest/config'

/** Where a machine-readable report goes besides the terminal, if anywhere. */
const report = process.env.WALLETLAKE_TEST_REPORT

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Much of the time goes to programs that tests start and to answers they wait for.
    maxWorkers: 3,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
})
