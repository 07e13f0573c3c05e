// Preloaded into the program under test (NODE_OPTIONS=--import …): counts the steps by which it changes the disk and,
// at the n-th, kills the process, cuts its power, or lets the disk fail from there on. It patches node:fs from outside,
// so that it holds for any inside, worker threads included. Native code (DuckDB) is not seen.
//
//   BREAKING_DISK={"how":"count","trace":"file"}       one line a step: its name and its file
//   {"how":"kill","at":7}                              SIGKILL before the seventh step; `kill-after`: after it
//   {"how":"torn","at":7}                              half of the bytes are written, then SIGKILL
//   {"how":"power-cut","at":7,"scratch":"folder"}      … and what was not synced is lost, bytes and names alike
//   {"how":"SIGINT","at":7}                            the process gets the signal and goes on; also `SIGTERM`
//   {"how":"stall","at":7}                             this step never ends; a line on stderr says when it began
//   {"how":"ENOSPC","at":7}                            from there on nothing can grow; `EROFS`: nothing can change;
//                                                      any other code: this one step fails
//   {"how":"ENOSYS","only":"link"}                    the disk has no hard links; `folder sync`: no fsync of folders
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

const plan = JSON.parse(process.env.BREAKING_DISK ?? '{"how":"count"}')
const shared = getEnvironmentData('breaking-disk') ?? new SharedArrayBuffer(4)
setEnvironmentData('breaking-disk', shared)
const counter = new Int32Array(shared)
const real = { ...fs }

const WRITES = ['appendFile', 'writeFile', 'write', 'writev']
const SYNCS = ['sync', 'datasync', 'fsync', 'fdatasync']
const NAMES = ['rename', 'link', 'unlink', 'rm', 'rmdir', 'mkdir', 'truncate', 'copyFile', 'symlink', 'open']
const GROWING = new Set([...WRITES, 'mkdir', 'link', 'open', 'copyFile', 'symlink'])
/** Files by inode: where they are and how many of their bytes are safe. */
const files = new Map()
let isInternalCall = false
/** Folders by descriptor, and renames that no sync of their folder has made safe yet. */
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
  owner[name] = function broken(...args) {
    if (isInternalCall) return original.apply(this, args)
    if (!changes(step, args)) return callAndRecord(this, { original, step, style, args })
    const count = Atomics.add(counter, 0, 1) + 1
    if (plan.how === 'count') withoutCounting(() => trace(step, this, args))
    else if (count === plan.at && plan.how !== 'kill-after')
      withoutCounting(() => applyFault(step, this, args))
    if (plan.how === 'stall' && count === plan.at && style !== 'sync') return stall()
    const code = plan.only === undefined ? failureCode(step, count) : unsupportedCode(step, this)
    if (code !== undefined) return fail(code, { style, args, step })
    return callAndRecord(this, { original, step, style, args, last: count === plan.at })
  }
}

/** Functions of node:fs call each other: what one of them, or this module, does inside is no step of its own. */
function withoutCounting(work) {
  const before = isInternalCall
  isInternalCall = true
  try {
    return work()
  } finally {
    isInternalCall = before
  }
}

/** An opening for reading changes nothing; terminals and pipes are no disk. */
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

/** A promise, or a callback, that is never heard of again. */
function stall() {
  real.writeSync(2, 'the disk stalls\n')
  return new Promise(() => {})
}

function failureCode(step, count) {
  if (!/^E[A-Z]+$/.test(plan.how) || count < plan.at) return undefined
  if (plan.how === 'ENOSPC' || plan.how === 'EDQUOT') return GROWING.has(step) ? plan.how : undefined
  return plan.how === 'EROFS' || count === plan.at ? plan.how : undefined
}

/** The code of an operation that the file system does not have. */
function unsupportedCode(step, self) {
  if (plan.only === 'link') return step === 'link' ? plan.how : undefined
  const isFolder = step === 'sync' && withoutCounting(() => real.fstatSync(self.fd)).isDirectory()
  return isFolder ? plan.how : undefined
}

function fail(code, { style, args, step }) {
  const error = Object.assign(new Error(`${code}: broken on purpose, ${step}`), { code, syscall: step })
  if (style === 'promise') return Promise.reject(error)
  if (style === 'sync') throw error
  process.nextTick(args.at(-1), error)
}

/** What a write would do if it got no further than its half. */
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

/** Does the real thing and keeps the books of what a loss of power would undo. */
function callAndRecord(self, { original, step, style, args, last = false }) {
  const after = plan.how === 'power-cut' ? withoutCounting(() => recordStep(step, self, args)) : () => {}
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
  // A number is given again when its file is gone.
  else if (entry.isFile() && files.get(entry.ino)?.path !== path)
    files.set(entry.ino, { path, safe: entry.size })
}

function recordSync({ fd, ino, size }) {
  const file = files.get(ino)
  if (file !== undefined) file.safe = size
  const folder = folders.get(fd)
  for (let at = renames.length - 1; at >= 0; at -= 1)
    if (dirname(renames[at].to) === folder) renames.splice(at, 1)
}

function recordRename(from, to) {
  const backup = join(plan.scratch, `${process.pid}-${renames.length}-${basename(to)}`)
  const had = real.existsSync(to)
  if (had) real.copyFileSync(to, backup)
  return () => {
    renames.push({ from, to, backup: had ? backup : undefined })
    move(from, to)
  }
}

function move(from, to) {
  for (const file of files.values()) if (file.path === from) file.path = to
}

function simulatePowerCut() {
  for (const { from, to, backup } of renames.toReversed()) {
    if (!real.existsSync(to)) continue
    real.renameSync(to, from)
    move(to, from)
    if (backup !== undefined) real.copyFileSync(backup, to)
  }
  for (const [ino, { path, safe }] of files) {
    const found = real.statSync(path, { throwIfNoEntry: false })
    // Another file may have taken the name since.
    if (found?.ino === ino && found.size > safe) real.truncateSync(path, safe)
  }
}

function trace(step, self, args) {
  const named = typeof self?.fd === 'number' ? self.fd : args[0]
  real.appendFileSync(plan.trace, `${step} ${typeof named === 'number' ? pathOf(named) : named}\n`)
}

function pathOf(fd) {
  try {
    return real.readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return `descriptor ${fd}`
  }
}
