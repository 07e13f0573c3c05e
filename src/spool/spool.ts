import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlockRange } from '../model.ts'
import { type FrameLog, type FramePlace, openFrameLog, scanFrameLog } from './log.ts'
import {
  emptyState,
  endOf,
  type Frame,
  noteEnd,
  notePage,
  replay,
  type SpoolIdentity,
  type SpoolState,
  settledBy,
  walletOf,
} from './state.ts'

type SpooledPage = {
  body: Buffer
  items: number
  blocks: { min: number; max: number } | undefined
  head: number | undefined
  /** Items that have no place in the chain. */
  bad: number
  covered: BlockRange
}

/** The checkpoint of a run: every page it has received, and so what is left to ask. */
export type Spool = {
  /** The file with the pages, where `frames` have their places. */
  path: string
  /** Transactions younger than this are left for a later run, milliseconds since 1970; Infinity with an endBlock. */
  cutMs: number
  /** True where an earlier, unfinished run is being continued. */
  resumed: boolean
  /** Block ranges of the wallet that no page has settled yet. */
  remaining(wallet: string): readonly BlockRange[]
  /** Keeps a page; resolves when it is on disk. */
  addPage(wallet: string, page: SpooledPage): Promise<void>
  /** Blocks that no wallet has anything left to ask in, and that stay so. */
  settled(wallets: ReadonlySet<string>): BlockRange[]
  frames(wallets: ReadonlySet<string>): Frame[]
  /** The highest block seen that is old enough; undefined where there was none. */
  head(): number | undefined
  /**
   * The end of the run, exclusive, the same for all wallets and kept across resumes. Without an endBlock it is settled
   * at the first call, one past the head; where the chain grew between two processes, wallets whose newest blocks the
   * earlier one read then have the blocks from there up to the end in `remaining` again.
   */
  settleEnd(): Promise<number>
  read(place: FramePlace): Promise<Buffer>
  close(): Promise<void>
}

export type OpenSpool = {
  /** The output's private folder. */
  folder: string
  identity: SpoolIdentity
  now: number
  onDamage: (damage: { bytes: number; kept: string | undefined }) => void
}

/** Opens the spool in `folder`, or begins one. Throws OUTPUT_CHANGED where it belongs to a different job. */
export async function openSpool({ folder, identity, now, onDamage }: OpenSpool): Promise<Spool> {
  await mkdir(folder, { recursive: true })
  const state = emptyState(identity, now)
  const onFrame = (head: Record<string, unknown>, place: FramePlace) => replay(state, head, place)
  const log = await openFrameLog(join(folder, SPOOL_FILE), { onFrame, onDamage })
  const resumed = state.session > 0
  try {
    if (resumed) await log.append({ kind: 'open', at: now }, EMPTY)
    else await log.append({ kind: 'run', identity, cutMs: finite(state.cutMs), at: now }, EMPTY)
  } catch (cause) {
    await log.close()
    throw cause
  }
  state.session += 1
  return spoolOn({ path: join(folder, SPOOL_FILE), log, state, resumed })
}

/** What a run would still have to ask, wallet by wallet; changes nothing. */
export type SpoolProgress = {
  /** False where there is no unfinished run. */
  begun: boolean
  pages: number
  items: number
  remaining(wallet: string): readonly BlockRange[]
}

/** Looks into the spool in `folder`. Throws OUTPUT_CHANGED where it belongs to a different job. */
export async function inspectSpool(folder: string, identity: SpoolIdentity): Promise<SpoolProgress> {
  const state = emptyState(identity, Date.now())
  await scanFrameLog(join(folder, SPOOL_FILE), (head, place) => replay(state, head, place))
  return {
    begun: state.session > 0,
    pages: state.pages,
    items: state.frames.reduce((sum, { items }) => sum + items, 0),
    remaining: (wallet) => walletOf(state, wallet).remaining,
  }
}

/** Forgets the spool in `folder`. */
export async function removeSpool(folder: string): Promise<void> {
  await rm(join(folder, SPOOL_FILE), { force: true })
}

const SPOOL_FILE = 'pages.log'
const EMPTY = Buffer.alloc(0)
const finite = (cutMs: number) => (Number.isFinite(cutMs) ? cutMs : null)

type OpenedSpool = { path: string; log: FrameLog; state: SpoolState; resumed: boolean }

function spoolOn({ path, log, state, resumed }: OpenedSpool): Spool {
  return {
    path,
    cutMs: state.cutMs,
    resumed,
    remaining: (wallet) => walletOf(state, wallet).remaining,
    addPage: async (wallet, { body, items, bad, blocks, head, covered }) => {
      const fields = { items, bad, blocks: blocks ?? null, head: head ?? null, covered }
      const place = await log.append({ kind: 'page', wallet, ...fields }, body)
      notePage(state, { wallet, ...fields }, place)
    },
    settled: (wallets) => settledBy(state, wallets),
    frames: (wallets) => state.frames.filter(({ wallet }) => wallets.has(wallet)),
    head: () => state.head,
    settleEnd: async () => {
      if (state.identity.endBlock !== null) return state.identity.endBlock
      if (state.end === undefined) {
        const end = endOf(state)
        await log.append({ kind: 'end', end }, EMPTY)
        noteEnd(state, end)
      }
      return state.end ?? state.identity.startBlock
    },
    read: (place) => log.read(place),
    close: () => log.close(),
  }
}
