import type { Protocol } from './protocol.ts'

const STETH = { '1': ['0xae7ab96520de3a18e5e111b5eaab095312d7fe84'] }
const WSTETH = { '1': ['0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0'] }
/** The queue of withdrawals, which mints an NFT for a request and burns it when the coins are claimed. */
const QUEUE = { '1': ['0x889edc2edab5f40e902b864ad4d7ade8e412f9b1'] }

export const lido: Protocol = {
  name: 'Lido',
  source:
    'https://docs.lido.fi/deployed-contracts/; https://docs.lido.fi/contracts/withdrawal-queue-erc721, its address as in the contracts of PufferVault',
  methods: [
    { method: 'submit', contracts: STETH, kind: 'deposit' },
    { method: 'wrap', contracts: WSTETH, kind: 'deposit' },
    { method: 'unwrap', contracts: WSTETH, kind: 'withdrawal' },
    { method: 'requestWithdrawals*', contracts: QUEUE, kind: 'deposit' },
    { method: 'claimWithdrawal*', contracts: QUEUE, kind: 'withdrawal' },
  ],
}
