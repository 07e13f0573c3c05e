import { toExportError } from '../core/model/errors.ts'
import { bindServer, closeServer, createLimitedServer, type Endpoint } from '../core/platform/http-server.ts'
import { checkLocation } from './destination.ts'
import { openQueue, type TaskCounts, type TaskQueue } from './queue.ts'
import { type QuotaState, readQuotaState } from './rate-limit/redis-rate-limiter.ts'
import { READ_RESULTS } from './read-results.ts'
import { openRunObjects, runStateOf } from './run-state.ts'
import { type OpenRun, type QueueAddress, toQueueError } from './server.ts'
import { WRITE_RESULTS } from './write-results.ts'

/** A queue run: its tasks by state, its requests and the state of its quota. */
export type QueuedRun = {
  id: string
  name: string
  output: string
  tasks: { read: TaskStateCounts; write: TaskStateCounts }
  requests: number
  computeUnits: number
  quota: QuotaState
}

type TaskStateCounts = TaskCounts & { done: number }

/** Inspects a queue: the number of live workers and all open runs. */
export async function inspectQueue(address: QueueAddress): Promise<{ workers: number; runs: QueuedRun[] }> {
  const queue = await openQueue(address)
  try {
    const { runs } = await queue.server.runs()
    const inspected = await Promise.all(runs.map((run) => inspectRun(queue, run)))
    return { workers: (await queue.server.liveWorkers()).size, runs: inspected }
  } catch (error) {
    throw toQueueError(error)
  } finally {
    await queue.close()
  }
}

async function inspectRun(queue: TaskQueue, run: OpenRun) {
  const { id, name, output, quota } = run
  const done = await countCompleted(run)
  const read = { done: done.reads, ...(await queue.counts(id, 'read')) }
  const write = { done: done.writes, ...(await queue.counts(id, 'write')) }
  const { requests, computeUnits } = await queue.server.readProgress(id)
  const rate = await readQuotaState(queue.server.rateLimitState(quota))
  return { id, name, output, tasks: { read, write }, requests, computeUnits, quota: rate }
}

/** Counts the finished tasks in the run state; 0 if this machine may not access the location. */
async function countCompleted(run: OpenRun): Promise<{ reads: number; writes: number }> {
  if ((await checkLocation(run)) !== undefined) return { reads: 0, writes: 0 }
  const runState = runStateOf(await openRunObjects(run), run.attempt)
  try {
    return { reads: await READ_RESULTS.count(runState), writes: await WRITE_RESULTS.count(runState) }
  } finally {
    await runState.objects.close()
  }
}

type QueueState = Awaited<ReturnType<typeof inspectQueue>>
type Sample = { labels?: Record<string, string>; value: number }

/** Serves the state of a queue for Prometheus at `GET /metrics`. Throws USAGE if the port is not available. */
export async function serveMetrics(
  queue: QueueAddress,
  at: Endpoint,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createLimitedServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end()
    try {
      const text = metricsText(await inspectQueue(queue))
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text)
    } catch (error) {
      response.writeHead(503).end(`${toExportError(error).message}\n`)
    }
  })
  const { url } = await bindServer(server, at, 'Give another --metrics, such as 0.0.0.0:9464.')
  return { url: `${url}/metrics`, close: () => closeServer(server) }
}

/** Formats metrics in Prometheus text format 0.0.4. */
export function metricsText({ workers, runs }: QueueState): string {
  const tasks = runs.flatMap((run) =>
    (['read', 'write'] as const).flatMap((kind) =>
      (['done', 'remaining', 'failed'] as const).map((state) => {
        return { labels: { ...labelsOf(run), kind, state }, value: run.tasks[kind][state] }
      }),
    ),
  )
  const remaining = tasks
    .filter(({ labels }) => labels.state === 'remaining')
    .reduce((sum, { value }) => sum + value, 0)
  const rates = runs.flatMap((run) => {
    const { perSecond } = run.quota
    return perSecond === undefined ? [] : [{ labels: labelsOf(run), value: perSecond }]
  })
  return [
    formatMetric('walletlake_workers', 'Live workers.', [{ value: workers }]),
    formatMetric('walletlake_tasks_remaining', 'Tasks of all runs that are waiting or running.', [
      { value: remaining },
    ]),
    formatMetric('walletlake_tasks', 'Tasks of a run by state.', tasks),
    formatMetric(
      'walletlake_requests_total',
      'Requests sent by the workers of a run.',
      runs.map((run) => ({ labels: labelsOf(run), value: run.requests })),
    ),
    formatMetric(
      'walletlake_compute_units_total',
      "Cost of these requests in the service's compute units.",
      runs.map((run) => ({ labels: labelsOf(run), value: run.computeUnits })),
    ),
    formatMetric('walletlake_quota_rate', 'Requests per second that the quota of a run allows.', rates),
  ].join('')
}

const labelsOf = ({ id, name }: QueuedRun) => ({ run: id, job: name })

/** By convention, a name ending in `_total` is a counter. */
function formatMetric(name: string, help: string, samples: readonly Sample[]): string {
  const type = name.endsWith('_total') ? 'counter' : 'gauge'
  const lines = samples.map(({ labels = {}, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
    return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

const escapeLabel = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
