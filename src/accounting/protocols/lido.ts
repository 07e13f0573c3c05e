import type { Protocol } from './protocol.ts'

const STETH = { '1': ['0xae7ab96520de3a18e5e111b5eaab095312d7fe84'] }
const WSTETH = { '1': ['0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0'] }

export const lido: Protocol = {
  name: 'Lido',
  source: 'https://docs.lido.fi/deployed-contracts/',
  methods: [
    { method: 'submit', contracts: STETH, kind: 'deposit' },
    { method: 'wrap', contracts: WSTETH, kind: 'deposit' },
    { method: 'unwrap', contracts: WSTETH, kind: 'withdrawal' },
  ],
}
