/** Address of a wallet or contract, in any letter case. */
export const ADDRESS = /^0x[0-9a-fA-F]{40}$/
