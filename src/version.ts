import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Version of this package. */
export const VERSION = version

/** How manifests name what wrote them. */
export const GENERATOR = `walletlake ${VERSION}`
