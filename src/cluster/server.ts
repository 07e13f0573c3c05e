import { createHmac } from 'node:crypto'
import { createRedisBackend, type QueueOptions } from 'bullmq'
import { Redis } from 'ioredis'
import * as v from 'valibot'
import { ExportError } from '../core/model/errors.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { GENERATOR } from '../core/model/version.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { openRedisStore } from './rate-limit/redis-rate-limiter.ts'
import { bucketLocation, jobName, parseAs, printableLine, runId, sha256, token, version } from './schemas.ts'
import type { Task } from './tasks.ts'

/** Address of the Redis server. `password` overrides the one in the URL. */
export type QueueAddress = { url: string; password?: string | undefined }

export type TaskKind = Task['kind']

const RUN_FIELDS = v.strictObject({
  id: runId,
  name: jobName,
  /** The attempt that workers serve. */
  attempt: token,
  /** The version of walletlake that started the run; only workers of the same version serve it. */
  version,
  /** The real path of a folder, or `s3://bucket/prefix`. */
  output: printableLine,
  /** Object store of the output, if it is one. The endpoint is set unless it is AWS. */
  store: v.optional(bucketLocation),
  quota: v.pipe(v.string(), v.regex(/^walletlake:quota:[0-9a-f]{32}$/)),
  /** Signature that proves knowledge of the API key; see `signRun`. */
  signature: sha256,
})

/** A run in progress: the location of its state and the quota that its requests count against. */
export type OpenRun = v.InferOutput<typeof RUN_FIELDS>

const RUN_ENTRY = v.pipe(
  RUN_FIELDS,
  v.check(({ id, name, attempt }) => id === `${name}-${attempt}`),
)

/** The part of an entry that all versions share. */
const ANY_VERSION_ENTRY = v.looseObject({ version })

/** Parses the run entries in Redis; `invalid` are those to ignore. Other programs can write there, so they are untrusted. */
export function parseRuns(table: { [id: string]: string }) {
  const runs: OpenRun[] = []
  const invalid: { id: string; reason: string }[] = []
  for (const [field, text] of Object.entries(table)) {
    const value = parseJson(text)
    const run = parseAs(RUN_ENTRY, value)
    const id = parseAs(runId, field) ?? 'an entry of the queue'
    const runVersion = parseAs(ANY_VERSION_ENTRY, value)?.version
    if (runVersion !== undefined && runVersion !== GENERATOR)
      invalid.push({
        id,
        reason: `it was started by ${runVersion}, but this is ${GENERATOR}: the run and its workers must have the same version`,
      })
    else if (run === undefined || run.id !== field)
      invalid.push({ id, reason: 'its entry in the queue is malformed' })
    else runs.push(run)
  }
  return { runs, invalid }
}

/**
 * Signs a run entry with an HMAC of the API key, which Redis never sees: write access to Redis alone is not
 * enough to direct workers elsewhere. Without an API key the signature detects accidental changes only;
 * workers then rely on checks of the run state.
 */
export function signRun(run: Omit<OpenRun, 'signature'>, apiKey = ''): string {
  const { id, name, attempt, version, output, store, quota } = run
  const { bucket = '', prefix = '', endpoint = '', region = '', pathStyle = '' } = store ?? {}
  const signed = [id, name, attempt, version, output, quota, bucket, prefix, endpoint, region, pathStyle]
  return createHmac('sha256', `walletlake ${apiKey}`).update(JSON.stringify(signed)).digest('hex')
}

const SHARED_COUNTERS = [
  'requests',
  'computeUnits',
  'rateLimited',
  'retries',
  'bytes',
  'pages',
  'items',
] as const

/** Counters of all workers of a run. They are informational only. */
type Progress = Pick<RunStats, (typeof SHARED_COUNTERS)[number]>

/** Counts of a process, and the part of them that it has added to the shared counters. */
export type ProgressReport = { stats: RunStats; reported: Partial<Progress> }

/** A worker without a heartbeat for this long (seconds) is not listed. */
const WORKER_TTL_SECONDS = 6
/** Counters expire after this time (seconds) without an update. */
const PROGRESS_TTL_SECONDS = 604_800
/** Version of a worker that reports none. */
const UNKNOWN_VERSION = 'an unknown version'

const RUNS_KEY = 'walletlake:runs'
const WORKER_KEYS = 'walletlake:worker:'
/** Each run has its own key prefix, so that the queues of two runs never mix. */
const prefixOf = (id: string) => `walletlake-${id}`
const progressKey = (id: string) => `${prefixOf(id)}:tally`

/** The server shared by all machines. Operations wait while it is unavailable. */
export type SharedServer = ReturnType<typeof createRedisServer>

function createRedisServer(redis: Redis) {
  return {
    /** Registers a run for the workers. Repeated periodically. */
    registerRun: async (run: OpenRun) => void (await redis.hset(RUNS_KEY, run.id, JSON.stringify(run))),
    /** Unregisters a run, so that workers stop serving it, and deletes its counters. */
    unregisterRun: async (id: string) =>
      void (await redis.multi().hdel(RUNS_KEY, id).del(progressKey(id)).exec()),
    runs: async () => parseRuns(await redis.hgetall(RUNS_KEY)),
    /** Reports a worker of this version as alive. Repeated periodically. */
    heartbeat: async (worker: string) =>
      void (await redis.set(WORKER_KEYS + worker, GENERATOR, 'EX', WORKER_TTL_SECONDS)),
    removeWorker: async (worker: string) => void (await redis.del(WORKER_KEYS + worker)),
    /** Live workers and their versions, whether they serve a run or not: BullMQ knows only those that do. */
    liveWorkers: () => listWorkers(redis),
    /** Adds the counts of a process since its last report to the counters of a run. */
    addProgress: async (id: string, { stats, reported }: ProgressReport) => {
      const batch = redis.pipeline()
      for (const name of SHARED_COUNTERS) {
        const count = stats[name] - (reported[name] ?? 0)
        if (count > 0) batch.hincrby(progressKey(id), name, count)
        reported[name] = stats[name]
      }
      if (batch.length > 0) await batch.expire(progressKey(id), PROGRESS_TTL_SECONDS).exec()
    },
    readProgress: async (id: string): Promise<Progress> => {
      const counts = await redis.hgetall(progressKey(id))
      const numbers = SHARED_COUNTERS.map((name) => [name, Number(counts[name])] as const)
      return Object.fromEntries(
        numbers.map(([name, count]) => [name, Number.isSafeInteger(count) && count >= 0 ? count : 0]),
      ) as Progress
    },
    /** The rate-limit state of a quota. */
    rateLimitState: (quota: string) => openRedisStore(redis, quota),
    /** Backend for BullMQ. */
    backend: createRedisBackend,
    /** The queue of a run's tasks, separate from those of other runs. */
    queueLocation: (id: string, kind: TaskKind): { name: string; options: QueueOptions } => {
      return { name: kind, options: { prefix: prefixOf(id), connection: redis } }
    },
    close: async () => redis.disconnect(),
  }
}

async function listWorkers(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const workers = new Map<string, string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${WORKER_KEYS}*`, 'COUNT', 1_000)
    const versions = keys.length === 0 ? [] : await redis.mget(keys)
    for (const [at, key] of keys.entries())
      workers.set(key.slice(WORKER_KEYS.length), parseAs(version, versions[at]) ?? UNKNOWN_VERSION)
    cursor = next
  } while (cursor !== '0')
  return workers
}

/** Connect timeout in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000

/** Redis without and with TLS. */
const PROTOCOLS = ['redis:', 'rediss:']

/**
 * Connects to a Redis server. Later commands wait while the server is unavailable.
 *
 * @param address such as `redis://host:6379`
 * @throws USAGE for another kind of URL; QUEUE_UNAVAILABLE if the server does not respond
 */
export async function openServer({ url: address, password }: QueueAddress): Promise<SharedServer> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !PROTOCOLS.includes(url.protocol))
    throw new ExportError('USAGE', '--queue takes the address of a Redis server', {
      fix: 'Use --queue redis://host:6379, or rediss://host:6379 with TLS.',
    })
  let lastError = 'no response'
  const redis = new Redis(address, {
    ...(password !== undefined && { password }),
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(1_000, 50 * times),
  })
  redis.on('error', (error: Error) => {
    lastError = errorMessage(error)
  })
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(lastError)), CONNECT_TIMEOUT_MS)
  })
  try {
    await Promise.race([redis.ping(), timeout])
    return createRedisServer(redis)
  } catch (cause) {
    redis.disconnect()
    // The error contains the host only, never user and password.
    throw queueError(`the queue at ${url.host} cannot be used`, cause)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Converts an error that Redis answers to QUEUE_UNAVAILABLE with a fix; returns any other error as it is. Another program
 * may use the same keys, and the server may be full.
 */
export function toQueueError(error: unknown): unknown {
  const isAnswer = error instanceof Error && error.name === 'ReplyError'
  return isAnswer ? queueError('the queue cannot be used', error) : error
}

function queueError(problem: string, cause: unknown): ExportError {
  const message = errorMessage(cause)
    .replace(/Unknown RESP type.*/s, 'it is not a Redis server')
    .replace(/\s+/g, ' ')
    .slice(0, 500)
  return new ExportError('QUEUE_UNAVAILABLE', `${problem}: ${message}`, {
    cause,
    fix: FIXES.find(({ pattern }) => pattern.test(message))?.fix,
  })
}

const FIXES: readonly { pattern: RegExp; fix: string }[] = [
  {
    pattern: /\b(NOAUTH|WRONGPASS|NOPERM)\b/,
    fix: 'Set WALLETLAKE_REDIS_PASSWORD, or WALLETLAKE_REDIS_PASSWORD_FILE; the user name of an ACL belongs in the URL.',
  },
  {
    pattern: /certificate/i,
    fix: 'Set NODE_EXTRA_CA_CERTS to a file with the CA certificate of the server.',
  },
  {
    pattern: /\bWRONGTYPE\b/,
    fix: 'Another program has replaced a key that begins with walletlake. Name a database of your own, such as redis://host:6379/1, or remove these keys, then run the same command again.',
  },
  {
    pattern: /\bOOM\b|\bout of memory\b/i,
    fix: 'Redis has reached its maxmemory. Raise it or free memory there, then run the same command again: it resumes.',
  },
]

/**
 * The message of an error. An AggregateError (several addresses) has no message, so those of its errors are
 * joined.
 */
function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map(errorMessage).join(', ')
  return error instanceof Error ? error.message : String(error)
}
