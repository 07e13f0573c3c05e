import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { requireFeatures } from '../../src/export/require-features.ts'
import { testJob } from '../helpers/jobs.ts'

const SERVICE = { baseUrl: 'demo', apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }

const SETTINGS: { setting: string; job: Partial<Job> }[] = [
  { setting: 'kind: blocks', job: { kind: 'blocks' } },
  { setting: 'atomic: true', job: { atomic: true } },
  { setting: 'internals: full', job: { internals: 'full' } },
]

test.for(SETTINGS)('$setting is refused for explorers, with the API that offers it', ({ setting, job }) => {
  for (const api of ['etherscan', 'blockscout'] as const) {
    const explorerJob = { ...testJob({ addresses: [] }), ...job, service: { ...SERVICE, api } }
    expect(() => requireFeatures(explorerJob)).toThrow(
      expect.objectContaining({
        code: 'JOB_INVALID',
        message: expect.stringContaining(`the API ${api} does not offer ${setting}`),
        fix: expect.stringContaining('the API data-api '),
      }),
    )
  }
  requireFeatures({ ...testJob({ addresses: [] }), ...job, service: { ...SERVICE, api: 'data-api' } })
})
