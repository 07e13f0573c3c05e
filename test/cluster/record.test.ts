import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Plan, planRun } from '../../src/cluster/plan.ts'
import { keepPlan, openRecord, type Record as RunRecord, readPlan } from '../../src/cluster/record.ts'
import type { Job } from '../../src/core/model.ts'
import { testJob } from '../helpers/jobs.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const WALLET = '0x1111111111111111111111111111111111111111'
const SERVICE = { baseUrl: 'https://service.example', apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }

const planOf = (output: string, changes: Partial<Job> = {}): Plan =>
  planRun(
    testJob({
      addresses: [WALLET],
      service: SERVICE,
      endBlock: 100,
      partitionBy: 'blocks:10',
      output,
      ...changes,
    }),
  )

describe('the plan of a run that several machines share', () => {
  let output: string
  let record: RunRecord

  beforeEach(async () => {
    output = join(tempFolder(), 'out')
    record = await openRecord({ output })
    await keepPlan(record, planOf(output))
  })

  test('is the same for a machine that reads it elsewhere or with other readers', async () => {
    await keepPlan(record, planOf(output, { concurrency: 3, file: 'elsewhere.yaml' }))
    expect((await readPlan(record))?.id).toBe(planOf(output).id)
  })

  test('of another job is refused, with what differs', async () => {
    await expect(
      keepPlan(record, planOf(output, { startBlock: 5, partitionBy: 'day' })),
    ).rejects.toMatchObject({
      code: 'OUTPUT_CHANGED',
      message: `${output} holds an unfinished queue run of another job, which differs in startBlock, partitionBy`,
    })
    expect((await readPlan(record))?.job).toMatchObject({ startBlock: 0, partitionBy: 'blocks:10' })
  })

  test('of another version is refused as such', async () => {
    await expect(keepPlan(record, { ...planOf(output), id: 'job-0' })).rejects.toThrow('of another version')
  })
})
