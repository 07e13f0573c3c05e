import { existsSync, readFileSync } from 'node:fs'

/**
 * Folder of the package: the nearest ancestor with a package.json, both for `src/` and for the bundle in
 * `dist/`.
 */
export const PACKAGE = findPackage(new URL('./', import.meta.url))

function findPackage(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : findPackage(new URL('../', folder))
}

const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8')) as {
  version: string
}

/** Version of this package. */
export const VERSION = version

/** The header `user-agent` of requests. */
export const USER_AGENT = `walletlake/${VERSION}`

/** Value of `generator` in manifests. */
export const GENERATOR = `walletlake ${VERSION}`
