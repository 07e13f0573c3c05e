import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { subtractRange } from '../block-ranges.ts'
import { ExportError } from '../errors.ts'
import type { BlockRange } from '../model.ts'
import { type FrameLog, type FramePlace, openFrameLog, scanFrameLog } from './log.ts'

/** What pages in a spool have in common; a spool of another identity cannot be continued. */
export type SpoolIdentity = {
  chain: string
  startBlock: number
  /** null: up to the head. */
  endBlock: number | null
  finalityMs: number
}

/** One page on disk. */
export type Frame = {
  wallet: string
  place: FramePlace
  /** Lowest and highest block of its items; null where no item has one. */
  blocks: { min: number; max: number } | null
  items: number
}

export type SpooledPage = {
  body: Buffer
  items: number
  blocks: { min: number; max: number } | undefined
  head: number | undefined
  covered: BlockRange
}

/** The checkpoint of a run: every page it has received, and so what is left to ask. */
export type Spool = {
  /** Transactions younger than this are left for a later run, milliseconds since 1970; Infinity with an endBlock. */
  cutMs: number
  /** True where an earlier, unfinished run is being continued. */
  resumed: boolean
  /** Block ranges of the wallet that no page has settled yet. */
  remaining(wallet: string): readonly BlockRange[]
  /** Keeps a page; resolves when it is on disk. */
  addPage(wallet: string, page: SpooledPage): Promise<void>
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

/** The end that is asked for while the head is not known: no chain has as many blocks, and every JSON reader keeps it. */
export const NO_END = 999_999_999_999

type WalletState = { remaining: BlockRange[]; head: number | undefined; topSession: number | undefined }

type State = {
  identity: SpoolIdentity
  cutMs: number
  session: number
  wallets: Map<string, WalletState>
  frames: Frame[]
  pages: number
  head: number | undefined
  /** The highest block seen by the end of each process, by session. */
  sessionHeads: (number | undefined)[]
  /** The settled end of a run without endBlock. */
  end: number | undefined
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
  return spoolOn(log, state, resumed)
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

function emptyState(identity: SpoolIdentity, now: number): State {
  const cutMs = identity.endBlock === null ? now - identity.finalityMs : Number.POSITIVE_INFINITY
  return {
    identity,
    cutMs,
    session: 0,
    wallets: new Map(),
    frames: [],
    pages: 0,
    head: undefined,
    sessionHeads: [],
    end: undefined,
  }
}

/** Forgets the spool in `folder`. */
export async function removeSpool(folder: string): Promise<void> {
  await rm(join(folder, SPOOL_FILE), { force: true })
}

const SPOOL_FILE = 'pages.log'
const EMPTY = Buffer.alloc(0)
const finite = (cutMs: number) => (Number.isFinite(cutMs) ? cutMs : null)

function spoolOn(log: FrameLog, state: State, resumed: boolean): Spool {
  return {
    cutMs: state.cutMs,
    resumed,
    remaining: (wallet) => walletOf(state, wallet).remaining,
    addPage: async (wallet, { body, items, blocks, head, covered }) => {
      const fields = { items, blocks: blocks ?? null, head: head ?? null, covered }
      const place = await log.append({ kind: 'page', wallet, ...fields }, body)
      notePage(state, { wallet, ...fields }, place)
    },
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

type PageFields = {
  wallet: string
  items: number
  blocks: { min: number; max: number } | null
  head: number | null
  covered: BlockRange
}

function replay(state: State, head: Record<string, unknown>, place: FramePlace): void {
  if (head['kind'] === 'run') {
    requireSameIdentity(head['identity'] as SpoolIdentity, state.identity)
    state.cutMs = (head['cutMs'] as number | null) ?? Number.POSITIVE_INFINITY
    state.session = 1
  } else if (head['kind'] === 'open') state.session += 1
  else if (head['kind'] === 'end') noteEnd(state, head['end'] as number)
  else notePage(state, head as unknown as PageFields, place)
}

function requireSameIdentity(found: SpoolIdentity, expected: SpoolIdentity): void {
  const differing = (Object.keys(expected) as (keyof SpoolIdentity)[]).filter(
    (key) => found[key] !== expected[key],
  )
  if (differing.length === 0) return
  const changes = differing.map(
    (key) => `${key} was ${found[key] ?? 'the head'} and is ${expected[key] ?? 'the head'}`,
  )
  throw new ExportError(
    'OUTPUT_CHANGED',
    `the output holds an unfinished run of another job: ${changes.join(', ')}`,
  )
}

function notePage(
  state: State,
  { wallet, items, blocks, head, covered }: PageFields,
  place: FramePlace,
): void {
  const at = walletOf(state, wallet)
  if (covered.to === NO_END && covered.from < covered.to) {
    at.head = Math.max(at.head ?? -1, head ?? state.identity.startBlock)
    at.topSession = state.session
  }
  state.pages += 1
  at.remaining = subtractRange(at.remaining, covered)
  if (head !== null) state.head = Math.max(state.head ?? head, head)
  state.sessionHeads[state.session] = state.head
  if (items > 0) state.frames.push({ wallet, place, blocks, items })
}

function walletOf(state: State, wallet: string): WalletState {
  const known = state.wallets.get(wallet)
  if (known !== undefined) return known
  const { startBlock, endBlock } = state.identity
  const fresh = {
    remaining: [{ from: startBlock, to: endBlock ?? NO_END }],
    head: undefined,
    topSession: undefined,
  }
  state.wallets.set(wallet, fresh)
  return fresh
}

/** One past the highest block that any wallet showed. */
function endOf({ identity, head }: State): number {
  return head === undefined ? identity.startBlock : head + 1
}

/**
 * Fixes the end. Where the chain was seen to grow between two processes, wallets whose newest blocks the earlier one
 * read lack what came since: from their own newest block on they are to be asked again.
 */
function noteEnd(state: State, end: number): void {
  state.end = end
  for (const { remaining, head, topSession } of state.wallets.values()) {
    if (topSession === undefined || head === undefined) continue
    const headThen = state.sessionHeads[topSession] ?? end
    if (topSession < state.session && headThen + 1 < end && head + 1 < end)
      remaining.push({ from: head, to: end })
  }
}
