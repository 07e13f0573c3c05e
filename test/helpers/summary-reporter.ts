import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { missingPrograms } from './programs.ts'

const SLOWEST = 10

const secondsOf = (module: TestModule) => module.diagnostic().duration / 1_000

/** Prints, after the results: the slowest files, programs whose tests were skipped, and how to run the other tests. */
export const summary: Reporter = {
  onInit(vitest) {
    const filter = vitest.config.tagsFilter ?? []
    this.onTestRunEnd = (modules) => {
      const slowest = [...modules].sort((a, b) => secondsOf(b) - secondsOf(a)).slice(0, SLOWEST)
      const lines = slowest.map(
        (module) =>
          `${secondsOf(module).toFixed(1).padStart(8)} s  ${relative(vitest.config.root, module.moduleId)}`,
      )
      const rest = filter.includes('!long')
        ? ['Not run: more rounds, real servers, importers, browser (npm run test:all)']
        : missingPrograms().map((program) => `not installed: ${program}; its tests were skipped`)
      process.stdout.write(`${['Slowest files:', ...lines, ...rest].join('\n')}\n`)
    }
  },
}
