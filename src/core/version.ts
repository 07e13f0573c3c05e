import { readFileSync } from 'node:fs'

/** The package's folder, from `src/` and from `dist/`, where the bundled program has no folders. */
export const PACKAGE = new URL('../../', import.meta.url)

const { version } = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8')) as {
  version: string
}

/** Version of this package. */
export const VERSION = version

/** How manifests name what wrote them. */
export const GENERATOR = `walletlake ${VERSION}`
