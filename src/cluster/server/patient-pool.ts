import { setTimeout as wait } from 'node:timers/promises'
import type { Client, ClientBase } from 'pg'
import { isAway, isEmptied, wordsOf } from './fault.ts'

type Rows = { rows: unknown[] }

/** A client that is held for long; whoever has it releases it. */
type HeldClient = Client & { release(): void }

/** Connections to a PostgreSQL whose queries wait for one that is away, and put back what it lost. */
export type PatientPool = {
  query(text: string, values?: unknown[]): Promise<Rows>
  /** A connection of one's own, beside those that queries share. */
  connect(): Promise<HeldClient>
  /** Why the newest try to reach the server failed. */
  trouble(): string | undefined
  end(): Promise<void>
}

export type PoolOptions = {
  url: string
  /** The schema in which names are looked for. */
  schema: string
  /** Puts what we need into the database; it may be there. */
  prepare(client: Client): Promise<void>
}

/** Queries that go on at once. */
const CONNECTIONS = 4
const CONNECT_MS = 10_000
const LONGEST_WAIT_MS = 1_000
/** So often is a query asked again in a database that is prepared, and yet lacks something. */
const MOST_PREPARATIONS = 3

/** Opens a pool; nothing is connected before the first query. */
export async function openPatientPool({ url, schema, prepare }: PoolOptions): Promise<PatientPool> {
  const { default: pg } = await import('pg')
  const ended = new AbortController()
  const config = { connectionString: url, application_name: 'walletlake', keepAlive: true }
  const options = { ...config, connectionTimeoutMillis: CONNECT_MS }
  // The queue may be lost at any time: no commit waits for a disk.
  const settings = `SET search_path TO ${schema}; SET synchronous_commit TO off`
  const onConnect = (client: ClientBase) => client.query(settings) as unknown as undefined
  const pool = new pg.Pool({ ...options, max: CONNECTIONS, onConnect })
  pool.on('error', () => undefined)
  const dial = async (): Promise<HeldClient> => {
    const client = new pg.Client(options)
    client.on('error', () => undefined)
    await client.connect()
    await client.query(settings)
    return Object.assign(client, { release: () => hangUp(client) })
  }
  const prepareBy = async () => {
    const client = await dial()
    await prepare(client).finally(client.release)
  }
  const patience = bePatient(once(prepareBy), ended.signal)
  return {
    query: (text, values) => patience.wait(() => pool.query<never>(text, values)),
    connect: () => patience.wait(dial),
    trouble: patience.trouble,
    end: async () => {
      ended.abort()
      await pool.end()
    },
  }
}

/** Ends a connection, of which nobody hears any more. */
function hangUp(client: Client): void {
  client.on('error', () => undefined)
  client.end().catch(() => undefined)
}

type Once = { done(): Promise<void>; forget(): void }

/** Does something once for all who need it; what failed, or is forgotten, is done again. */
function once(act: () => Promise<void>): Once {
  let doing: Promise<void> | undefined
  const forget = () => {
    doing = undefined
  }
  const begin = () => {
    const begun = act().catch((thrown: unknown) => {
      if (doing === begun) forget()
      throw thrown
    })
    return begun
  }
  return {
    done: () => {
      doing ??= begin()
      return doing
    },
    forget,
  }
}

/** Asks again and again while the server is away, in a database that is prepared first. */
function bePatient(preparing: Once, signal: AbortSignal) {
  let trouble: string | undefined
  const tryAgain = async <T>(act: () => Promise<T>): Promise<T> => {
    for (let [turn, lost] = [1, 0]; ; turn += 1) {
      try {
        await preparing.done()
        return await act()
      } catch (thrown) {
        trouble = wordsOf(thrown)
        const isLost = isEmptied(thrown) && lost < MOST_PREPARATIONS
        if (signal.aborted || !(isLost || isAway(thrown))) throw thrown
        if (isLost) {
          lost += 1
          preparing.forget()
        }
      }
      await wait(Math.min(LONGEST_WAIT_MS, 50 * turn), undefined, { signal })
    }
  }
  return { wait: tryAgain, trouble: () => trouble }
}
