// Writes npm-shrinkwrap.json for the tarball: package-lock.json without development packages, so that an installation gets the
// versions and checksums that were tested. `npm pack` runs it before packing, and removes the file afterwards.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const FILE = 'npm-shrinkwrap.json'

if (process.argv[2] === 'remove') rmSync(FILE, { force: true })
else {
  const { packages, ...lock } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const { devDependencies: _, ...root } = packages['']
  const kept = Object.entries(packages).filter(([path, entry]) => path !== '' && entry.dev !== true)
  const unverified = kept.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)
  if (unverified.length > 0)
    throw new Error(`package-lock.json has no integrity for ${unverified.join(', ')}`)
  const text = JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(kept) } }, null, 2)
  writeFileSync(FILE, `${text}\n`)
}
