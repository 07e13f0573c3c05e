import { existsSync, readFileSync } from 'node:fs'

/** The package's folder: the nearest above this file that has a package.json, from `src/` as from the bundle in `dist/`. */
export const PACKAGE = findPackage(new URL('./', import.meta.url))

function findPackage(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : findPackage(new URL('../', folder))
}

const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8')) as {
  version: string
}

/** Version of this package. */
export const VERSION = version

/** How manifests name what wrote them. */
export const GENERATOR = `walletlake ${VERSION}`
