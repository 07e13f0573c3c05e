// Makes the tarball install the versions and checksums that were tested. Before packing, `npm pack` has it write npm-shrinkwrap.json,
// which is package-lock.json without development packages, and take these out of package.json: `npm ci` refuses a pair that
// differs. Afterwards `remove` puts everything back. What an interrupted packing left is put back by the next call of either.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const SHRINKWRAP = 'npm-shrinkwrap.json'
const PACKAGE = 'package.json'
/** package.json as it was, while the tarball is packed. */
const SAVED = 'package.json.saved'

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Replaces a file as a whole, or not at all. */
function write(path, text) {
  writeFileSync(`${path}.part`, text)
  renameSync(`${path}.part`, path)
}

function packedPackage(path) {
  const { devDependencies: _, ...packed } = readJson(path)
  return `${JSON.stringify(packed, null, 2)}\n`
}

function restore() {
  rmSync(SHRINKWRAP, { force: true })
  if (!existsSync(SAVED)) return
  const present = readFileSync(PACKAGE, 'utf8')
  if (present !== packedPackage(SAVED) && present !== readFileSync(SAVED, 'utf8'))
    throw new Error(
      `${PACKAGE} has changed since an interrupted npm pack; merge it with ${SAVED}, then remove ${SAVED}`,
    )
  renameSync(SAVED, PACKAGE)
}

function prepare() {
  const { packages, ...lock } = readJson('package-lock.json')
  const { devDependencies: _, ...root } = packages['']
  const kept = Object.entries(packages).filter(([path, entry]) => path !== '' && entry.dev !== true)
  const unverified = kept.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)
  if (unverified.length > 0)
    throw new Error(`package-lock.json has no integrity for ${unverified.join(', ')}`)
  const text = JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(kept) } }, null, 2)
  write(SHRINKWRAP, `${text}\n`)
  const packed = packedPackage(PACKAGE)
  write(SAVED, readFileSync(PACKAGE, 'utf8'))
  write(PACKAGE, packed)
}

restore()
if (process.argv[2] !== 'remove') prepare()
