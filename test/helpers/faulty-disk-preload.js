// Preloaded into the program under test (NODE_OPTIONS=--import …). Counts the operations that change the disk and, at
// the n-th, kills the process, simulates a power cut, or makes the disk fail. It patches node:fs from outside, so it
// works for all code of the program, including worker threads. It does not see native code (DuckDB).
//
//   FAULTY_DISK={"how":"count","trace":"file"}         writes one line per operation: its name and its file
//   {"how":"kill","at":7}                              SIGKILL before the seventh operation; `kill-after`: after it
//   {"how":"torn","at":7}                              half of the bytes are written, then SIGKILL
//   {"how":"power-cut","at":7,"scratch":"folder"}      SIGKILL, and all unsynced bytes and names are lost
//   {"how":"copy","matching":"^rename ","output":"out","to":"states","after":"kill","scratch":"folder"}
//                                                      before each operation that matches, copies what a kill (or a
//                                                      `power-cut`) would leave of the output; the process continues
//   {"how":"SIGINT","at":7}                            the process gets the signal and continues; also `SIGTERM`
//   {"how":"stall","at":7}                             the operation never ends; a line on stderr tells when it began
//   {"how":"ENOSPC","at":7}                            from then on nothing can grow; `EROFS`: nothing can change;
//                                                      any other code: only this operation fails
//   {"how":"ENOSPC","from":"runs/"}                    the same, from the first operation on a file that matches
//   {"how":"ENOSYS","only":"link"}                     the disk has no hard links; `folder sync`: no fsync of folders
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

const plan = JSON.parse(process.env.FAULTY_DISK ?? '{"how":"count"}')
const shared = getEnvironmentData('faulty-disk') ?? new SharedArrayBuffer(8)
setEnvironmentData('faulty-disk', shared)
/** The number of operations so far, and that of the first one that matches `from` (0: none yet). */
const counter = new Int32Array(shared)
const matching = plan.matching === undefined ? undefined : new RegExp(plan.matching)
const from = plan.from === undefined ? undefined : new RegExp(plan.from)
const real = { ...fs }

const WRITES = ['appendFile', 'writeFile', 'write', 'writev']
const SYNCS = ['sync', 'datasync', 'fsync', 'fdatasync']
const NAMES = ['rename', 'link', 'unlink', 'rm', 'rmdir', 'mkdir', 'truncate', 'copyFile', 'symlink', 'open']
const GROWING = new Set([...WRITES, 'mkdir', 'link', 'open', 'copyFile', 'symlink'])
/** Files by inode: path and number of synced bytes. */
const files = new Map()
let isInternalCall = false
/** Folders by descriptor, and renames whose folder has not been synced yet. */
const folders = new Map()
const renames = []

const probe = await fs.promises.open(new URL(import.meta.url), 'r')
const handles = Object.getPrototypeOf(probe)
await probe.close()
for (const name of [...WRITES, ...SYNCS, 'truncate']) patch(handles, name, { style: 'promise' })
for (const name of [...WRITES.slice(0, 2), ...NAMES]) patch(fs.promises, name, { style: 'promise' })
for (const name of [...WRITES, ...SYNCS, ...NAMES]) {
  patch(fs, name, { style: 'callback' })
  patch(fs, `${name}Sync`, { style: 'sync', step: name })
}
syncBuiltinESMExports()

function patch(owner, name, { style, step = name }) {
  const original = owner[name]
  if (typeof original !== 'function') return
  owner[name] = function patched(...args) {
    if (isInternalCall) return original.apply(this, args)
    if (!changes(step, args)) return callAndRecord(this, { original, step, style, args })
    const counts = matching === undefined || matching.test(`${step} ${fileOf(this, args)}`)
    const count = counts ? Atomics.add(counter, 0, 1) + 1 : 0
    if (from?.test(fileOf(this, args))) Atomics.compareExchange(counter, 1, 0, count)
    if (plan.how === 'count') withoutCounting(() => trace(step, this, args))
    else if (plan.how === 'copy') {
      if (counts) withoutCounting(() => copyOutput(String(count).padStart(4, '0')))
    } else if (count === plan.at && plan.how !== 'kill-after')
      withoutCounting(() => applyFault(step, this, args))
    if (plan.how === 'stall' && count === plan.at && style !== 'sync') return stall()
    const code = plan.only === undefined ? failureCode(step, count) : unsupportedCode(step, this)
    if (code !== undefined) return fail(code, { style, args, step })
    return callAndRecord(this, { original, step, style, args, last: count === plan.at })
  }
}

/** Runs code whose calls are not counted: functions of node:fs call each other, and this module uses them too. */
function withoutCounting(work) {
  const before = isInternalCall
  isInternalCall = true
  try {
    return work()
  } finally {
    isInternalCall = before
  }
}

/**
 * Whether an operation changes the disk. Opening for reading does not; stdin, stdout and stderr are not on the disk.
 */
function changes(step, [target, flags]) {
  if (step === 'open')
    return typeof flags === 'number' ? (flags & 3) !== 0 : /[wa+]/.test(String(flags ?? 'r'))
  return typeof target !== 'number' || target > 2
}

function applyFault(step, self, args) {
  if (plan.how === 'torn' || plan.how === 'ENOSPC') writeHalf(step, self, args)
  if (plan.how === 'power-cut') simulatePowerCut()
  if (plan.how.startsWith('SIG')) process.kill(process.pid, plan.how)
  if (['kill', 'torn', 'power-cut'].includes(plan.how)) killProcess()
}

function killProcess() {
  process.kill(process.pid, 'SIGKILL')
  for (;;);
}

/** Never resolves, and never calls the callback. */
function stall() {
  real.writeSync(2, 'the disk stalls\n')
  return new Promise(() => {})
}

function failureCode(step, count) {
  const first = plan.at ?? (Atomics.load(counter, 1) || Infinity)
  if (!/^E[A-Z]+$/.test(plan.how) || count < first) return undefined
  if (plan.how === 'ENOSPC' || plan.how === 'EDQUOT') return GROWING.has(step) ? plan.how : undefined
  return plan.how === 'EROFS' || count === first ? plan.how : undefined
}

/** Error code of an operation that the simulated file system does not support. */
function unsupportedCode(step, self) {
  if (plan.only === 'link') return step === 'link' ? plan.how : undefined
  const isFolder = step === 'sync' && withoutCounting(() => real.fstatSync(self.fd)).isDirectory()
  return isFolder ? plan.how : undefined
}

function fail(code, { style, args, step }) {
  const error = Object.assign(new Error(`${code}: simulated fault, ${step}`), { code, syscall: step })
  if (style === 'promise') return Promise.reject(error)
  if (style === 'sync') throw error
  process.nextTick(args.at(-1), error)
}

/** Performs the first half of a write. */
function writeHalf(step, self, args) {
  if (!WRITES.includes(step)) return
  const fd = typeof self?.fd === 'number' ? self.fd : args[0]
  const given = typeof self?.fd === 'number' ? args : args.slice(1)
  const bytes = Array.isArray(given[0]) ? Buffer.concat(given[0]) : Buffer.from(given[0])
  const from = step === 'write' && typeof given[1] === 'number' ? given[1] : 0
  const length = step === 'write' && typeof given[2] === 'number' ? given[2] : bytes.length - from
  const half = bytes.subarray(from, from + (length >> 1))
  if (typeof fd === 'number') real.writeSync(fd, half)
  else real.writeFileSync(fd, half)
}

/** Performs the operation and, for `power-cut`, records what a power loss would undo. */
function callAndRecord(self, { original, step, style, args, last = false }) {
  const records = plan.how === 'power-cut' || plan.how === 'copy'
  const after = records ? withoutCounting(() => recordStep(step, self, args)) : () => {}
  const done = (result) => {
    withoutCounting(() => after(result))
    if (last && plan.how === 'kill-after') killProcess()
    return result
  }
  if (style === 'promise') return original.apply(self, args).then(done)
  if (style === 'sync') return done(withoutCounting(() => original.apply(self, args)))
  const callback = args.at(-1)
  if (typeof callback !== 'function') return original.apply(self, args)
  return original.call(self, ...args.slice(0, -1), (error, ...results) => {
    if (error === null || error === undefined) done(results[0])
    callback(error, ...results)
  })
}

function recordStep(step, self, args) {
  if (step === 'open') return (opened) => recordOpen(String(args[0]), opened?.fd ?? opened)
  if (step === 'rename') return recordRename(String(args[0]), String(args[1]))
  if (!SYNCS.includes(step)) return () => {}
  const fd = self?.fd ?? args[0]
  const { ino, size } = real.fstatSync(fd)
  return () => recordSync({ fd, ino, size })
}

function recordOpen(path, fd) {
  if (typeof fd !== 'number') return
  const entry = real.fstatSync(fd)
  if (entry.isDirectory()) folders.set(fd, path)
  // Inode numbers are reused after a file has been removed.
  else if (entry.isFile() && files.get(entry.ino)?.path !== path)
    files.set(entry.ino, { path, synced: entry.size })
}

function recordSync({ fd, ino, size }) {
  const file = files.get(ino)
  if (file !== undefined) file.synced = size
  const folder = folders.get(fd)
  for (let at = renames.length - 1; at >= 0; at -= 1)
    if (dirname(renames[at].to) === folder) renames.splice(at, 1)
}

function recordRename(from, to) {
  const backup = join(plan.scratch, `${process.pid}-${renames.length}-${basename(to)}`)
  const existed = real.existsSync(to)
  if (existed) real.copyFileSync(to, backup)
  return () => {
    renames.push({ from, to, backup: existed ? backup : undefined })
    move(from, to)
  }
}

function move(from, to) {
  for (const file of files.values()) if (file.path === from) file.path = to
}

/** Copies the output, as a kill or a power cut at this moment would leave it. */
function copyOutput(name) {
  const copy = join(plan.to, name)
  real.mkdirSync(copy)
  while (real.existsSync(plan.output) && !copyFolder(plan.output, copy))
    real.rmSync(copy, { recursive: true })
  if (plan.after === 'power-cut') simulatePowerCut((path) => path.replace(plan.output, copy))
}

/** Returns false if a file disappeared meanwhile: operations that have begun continue in other threads. */
function copyFolder(from, to) {
  try {
    real.cpSync(from, to, { recursive: true })
    return true
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return false
  }
}

/**
 * Removes the unsynced bytes of files, and undoes the renames of folders that were not synced.
 *
 * @param inCopy the path of a file in the copy that the power cut changes
 */
function simulatePowerCut(inCopy = (path) => path) {
  for (const [ino, { path, synced }] of files) {
    const file = real.statSync(path, { throwIfNoEntry: false })
    // Another file may have this name by now.
    if (file?.ino === ino && file.size > synced) real.truncateSync(inCopy(path), synced)
  }
  for (const { from, to, backup } of renames.toReversed()) {
    if (!real.existsSync(inCopy(to))) continue
    real.renameSync(inCopy(to), inCopy(from))
    if (backup !== undefined) real.copyFileSync(backup, inCopy(to))
  }
}

function trace(step, self, args) {
  real.appendFileSync(plan.trace, `${step} ${fileOf(self, args)}\n`)
}

function fileOf(self, args) {
  const named = typeof self?.fd === 'number' ? self.fd : args[0]
  return typeof named === 'number' ? pathOf(named) : String(named)
}

function pathOf(fd) {
  try {
    return withoutCounting(() => real.readlinkSync(`/proc/self/fd/${fd}`))
  } catch {
    return `descriptor ${fd}`
  }
}
