/** The oldest version of Node that runs this program; `engines` of package.json says the same. */
export const NODE_VERSION = { major: 20, minor: 19 } as const
