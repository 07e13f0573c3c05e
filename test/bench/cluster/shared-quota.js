// Share of an unknown quota that four processes use together, and share of their requests that are refused.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

const SERVICE = new URL('../quota-service.js', import.meta.url).pathname
const CLIENT_SCRIPT = new URL('./request-within-quota.js', import.meta.url).pathname
const PROCESSES = 4
const quota = { perSecond: 50, burst: 5, delayMs: [60, 120] }
const CASES = {
  '50/s, burst 5': quota,
  '50/s, burst 5, no Retry-After': { ...quota, retryAfter: 'nothing' },
  '50/s, burst 5, another client takes a fifth': { ...quota, otherShare: 0.2 },
}

/** Measures the cases whose name contains `name`, one after the other. */
export async function measureSharedQuota({ seconds, name, queue }) {
  const service = spawn(process.execPath, [SERVICE])
  try {
    const [line] = await once(service.stdout, 'data')
    const url = String(line).trim()
    const rows = []
    for (const one of Object.entries(CASES))
      if (one[0].includes(name)) rows.push(await measure(one, { queue, url, seconds }))
    console.table(Object.fromEntries(rows))
  } finally {
    service.kill()
  }
}

async function measure([name, options], { queue, url, seconds }) {
  const baseUrl = `${url}/${encodeURIComponent(JSON.stringify(options))}`
  const args = [CLIENT_SCRIPT, queue, baseUrl, String(seconds)]
  const run = () => promisify(execFile)(process.execPath, args)
  const ended = await Promise.all(Array.from({ length: PROCESSES }, run))
  if (process.env.TRACE !== undefined)
    console.log(
      name,
      ended
        .flatMap(({ stderr }) => stderr.split('\n'))
        .sort((a, b) => Number.parseFloat(a) - Number.parseFloat(b))
        .join(' ')
        .replaceAll(' throttled', ''),
    )
  const counts = ended.map(({ stdout }) => JSON.parse(stdout))
  const [answered, refused] = ['answered', 'refused'].map((key) =>
    counts.reduce((sum, one) => sum + one[key], 0),
  )
  // Time from the first request to the last response, because processes on busy cores take seconds to start.
  const ms = Math.max(...counts.map((one) => one.ended)) - Math.min(...counts.map((one) => one.began))
  const ours = 1 - (options.otherShare ?? 0)
  const supply = options.burst + (ours * options.perSecond * ms) / 1000
  const row = {
    answered,
    'quota used %': ((100 * answered) / supply).toFixed(1),
    'refused %': ((100 * refused) / (answered + refused)).toFixed(2),
  }
  return [name, row]
}
