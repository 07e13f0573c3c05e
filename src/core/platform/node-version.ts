/** The oldest supported Node version; must match `engines` in package.json. */
export const NODE_VERSION = { major: 20, minor: 19 } as const
