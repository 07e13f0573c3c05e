import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openBudgetsOf, unitsUsedToday } from '../../src/export/open-request-context.ts'
import { testJob } from '../helpers/jobs.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const NOW = Date.UTC(2026, 0, 31, 12)

function jobWith(baseUrl: string, computeUnitsPerDay?: number) {
  const service = { baseUrl, apiKeyHeader: 'x-service-api-key', timeoutMs: 1_000 }
  return testJob({
    addresses: [],
    output: tempFolder(),
    service: computeUnitsPerDay === undefined ? service : { ...service, computeUnitsPerDay },
  })
}

/** Writes the report of a run. */
function writeReport(output: string, number: number, fields: object): void {
  mkdirSync(join(output, 'runs'), { recursive: true })
  const report = { startedAt: new Date(NOW).toISOString(), ...fields }
  writeFileSync(join(output, 'runs', `20260131T00000${number}Z-test.json`), JSON.stringify(report))
}

test('jobs of one service share the lowest budget, and those of another have their own', async () => {
  const [a, b, other] = [
    jobWith('http://one.example', 100),
    jobWith('http://one.example', 1_000),
    jobWith('http://two.example'),
  ]
  const budgetOf = await openBudgetsOf([a, b, other])
  budgetOf(a).count(60)
  expect(() => budgetOf(b).count(60)).toThrow('the budget of 100 compute units')
  budgetOf(b).count(40)
  expect(() => budgetOf(other).count(1_000_000)).not.toThrow()
})

test('counts what the reports state for the day, and ignores what is no number of units', async () => {
  const output = tempFolder()
  const reported = [
    { '2026-01-31': 70, '2026-01-30': 900 },
    null,
    { '2026-01-31': -50 },
    { '2026-01-31': 'many' },
  ]
  for (const [number, computeUnitsByDay] of reported.entries())
    writeReport(output, number, { computeUnitsByDay })
  writeReport(output, 8, {})
  expect(await unitsUsedToday([output, tempFolder()], NOW)).toBe(70)
})
