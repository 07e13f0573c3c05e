/**
 * True where a frame's head is one that this version writes, with every field of its type. Checksums tell what a disk
 * did to a frame; this tells frames of another version, or of another program, which count as damage.
 */
export function isFrameHead(head: Record<string, unknown>): boolean {
  const { kind } = head
  const fits = typeof kind === 'string' && Object.hasOwn(HEADS, kind) ? HEADS[kind] : undefined
  return fits?.(head) ?? false
}

type Fields = Record<string, unknown>
type Test = (value: unknown) => boolean

const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isText: Test = (value) => typeof value === 'string'
const isTime: Test = (value) => typeof value === 'number' && Number.isFinite(value)
const orNull = (test: Test): Test => {
  return (value) => value === null || test(value)
}
const absentOr = (test: Test): Test => {
  return (value) => value === undefined || test(value)
}

function fields(tests: Readonly<Record<string, Test>>): Test {
  return (value) => {
    if (typeof value !== 'object' || value === null) return false
    return Object.entries(tests).every(([name, test]) => test((value as Fields)[name]))
  }
}

const isSeen: Test = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isCount)

const isRange = fields({ from: isCount, to: isCount })
const UNKNOWNS = { statusUnknown: absentOr(isCount), feeUnknown: absentOr(isCount) }
const hasWritten = fields({ from: isCount, to: isCount, seen: isSeen, ...UNKNOWNS })
const isWritten: Test = (value) =>
  hasWritten(value) && Number((value as Fields).from) <= Number((value as Fields).to)

const isRanges: Test = (value) => Array.isArray(value) && value.every(isRange)
const isBlocks: Test = (value) => value === 'blocks'
const BEGUN = { block: isCount, token: isText, pages: isCount, items: isCount, bad: isCount }

const IDENTITY = {
  kind: absentOr(isBlocks),
  chain: isText,
  startBlock: isCount,
  endBlock: orNull(isCount),
  finalityMs: isTime,
}

const HEADS: Readonly<Record<string, Test>> = {
  run: fields({ identity: fields(IDENTITY), cutMs: orNull(isTime), before: absentOr(isWritten) }),
  open: () => true,
  missing: fields({ block: isCount }),
  again: () => true,
  begun: fields(BEGUN),
  end: fields({ end: isCount }),
  reopen: fields({ wallet: isText, from: isCount, to: isCount }),
  drop: fields({ wallet: isText, offset: isCount, shown: isRanges }),
  hashes: fields({ from: isCount, to: isCount }),
  done: isWritten,
  next: fields({ cutMs: orNull(isTime), from: isCount }),
  page: fields({
    wallet: isText,
    items: isCount,
    bad: isCount,
    young: absentOr(isCount),
    blocks: orNull(fields({ min: isCount, max: isCount })),
    head: orNull(isCount),
    covered: isRange,
  }),
}
