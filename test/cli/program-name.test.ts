import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { programName } from '../../src/cli/program-name.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const NPX = { npm_command: 'exec', PATH: '/home/me/node_modules/.bin:/usr/bin' }

test.for([
  { how: 'node in a checkout', script: '/home/me/lake/dist/bin.js', name: 'node lake/dist/bin.js' },
  {
    how: 'a folder with a space',
    script: '/home/me/my lake/dist/bin.js',
    name: "node 'my lake/dist/bin.js'",
  },
  { how: 'a file on the PATH', script: '/usr/bin/walletlake', name: 'walletlake' },
  { how: 'a file that is not on the PATH', script: '/opt/bin/walletlake', name: '../../opt/bin/walletlake' },
  {
    how: 'a file in node_modules',
    script: '/home/me/node_modules/.bin/walletlake',
    name: 'node_modules/.bin/walletlake',
  },
  { how: 'a file in the working folder', script: '/home/me/walletlake', name: './walletlake' },
  { how: 'npx', script: '/home/me/node_modules/.bin/walletlake', env: NPX, name: 'npx walletlake' },
  {
    how: 'npm run',
    script: '/home/me/node_modules/.bin/walletlake',
    env: { npm_command: 'run' },
    name: 'npx walletlake',
  },
  { how: 'a Windows shim', script: '/lib/node_modules/walletlake/dist/bin.js', name: 'walletlake' },
])('is called $name if started by $how', ({ script, env = { PATH: '/bin:/usr/bin' }, name }) => {
  expect(programName({ argv: ['node', script], env, cwd: () => '/home/me' })).toBe(name)
})

test.for([
  { received: './walletlake-0.1.0.tgz', name: 'npx --package ./walletlake-0.1.0.tgz walletlake' },
  { received: 'walletlake', name: 'npx walletlake' },
  { received: undefined, name: 'npx walletlake' },
])('includes the package $received that was passed to npx', ({ received, name }) => {
  const folder = join(tempFolder(), '_npx', '17ff')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify(received === undefined ? {} : { _npx: { packages: [received] } }),
  )
  const script = join(folder, 'node_modules', '.bin', 'walletlake')
  expect(programName({ argv: ['node', script], env: NPX, cwd: () => '/home/me' })).toBe(name)
})
