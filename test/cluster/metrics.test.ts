import { expect, test } from 'vitest'
import { metricsText } from '../../src/cluster/inspect-queue.ts'

const run = {
  id: 'many-1f',
  name: 'ma"ny',
  output: '/lake/many',
  tasks: { read: { done: 3, remaining: 5, failed: 0 }, write: { done: 0, remaining: 2, failed: 1 } },
  requests: 40,
  computeUnits: 790,
  quota: { perSecond: 12.5, pausedMs: 0 },
}

test('formats the state of a queue as Prometheus text with escaped labels', () => {
  const text = metricsText({ workers: 4, runs: [run] })
  expect(text).toContain('# TYPE walletlake_workers gauge\nwalletlake_workers 4\n')
  expect(text).toContain('\nwalletlake_tasks_remaining 7\n')
  expect(text).toContain('walletlake_tasks{run="many-1f",job="ma\\"ny",kind="write",state="failed"} 1\n')
  expect(text).toContain('\nwalletlake_requests_total{run="many-1f",job="ma\\"ny"} 40\n')
  expect(text).toContain('\nwalletlake_compute_units_total{run="many-1f",job="ma\\"ny"} 790\n')
  expect(text).toContain('\nwalletlake_quota_rate{run="many-1f",job="ma\\"ny"} 12.5\n')
  const line = /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="([^"\\\n]|\\.)*",?)+\})? [\d.]+)$/
  expect(
    text
      .trimEnd()
      .split('\n')
      .filter((one) => !line.test(one)),
  ).toEqual([])
})

test('omits an unknown rate', () => {
  const unknown = { ...run, quota: { perSecond: undefined, pausedMs: 0 } }
  expect(metricsText({ workers: 0, runs: [unknown] })).toContain('# TYPE walletlake_quota_rate gauge\n')
  expect(metricsText({ workers: 0, runs: [unknown] })).not.toMatch(/^walletlake_quota_rate/m)
  expect(metricsText({ workers: 0, runs: [] })).toContain('\nwalletlake_tasks_remaining 0\n')
})
