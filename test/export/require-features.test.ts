import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { requireFeatures } from '../../src/export/check-job.ts'
import { testJob } from '../helpers/jobs.ts'

const SERVICE = { baseUrl: 'demo', apiKeyHeader: 'x-service-api-key', timeoutMs: 120_000 }

const SETTINGS: { setting: string; option?: string; job: Partial<Job> }[] = [
  { setting: 'kind: blocks', job: { kind: 'blocks' } },
  { setting: 'atomic: true', option: '--atomic', job: { atomic: true } },
  { setting: 'internals: full', option: '--internals full', job: { internals: 'full' } },
]

test.for(SETTINGS)('$setting is refused for explorers, with the API that offers it', (refused) => {
  const { setting, option = setting, job } = refused
  for (const api of ['etherscan', 'blockscout'] as const) {
    const explorerJob = { ...testJob({ addresses: [] }), ...job, service: { ...SERVICE, api } }
    expect(() => requireFeatures(explorerJob)).toThrow(
      expect.objectContaining({
        code: 'JOB_INVALID',
        message: expect.stringContaining(`the API ${api} does not offer ${setting}`),
        fix: expect.stringMatching(`^Remove .*${option}.* the API data-api: `),
      }),
    )
  }
  requireFeatures({ ...testJob({ addresses: [] }), ...job, service: { ...SERVICE, api: 'data-api' } })
})
