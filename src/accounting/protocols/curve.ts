import type { Protocol } from './protocol.ts'

/** CRV is minted only as the rewards of gauges. */
const CRV = { '1': ['0xd533a949740bb3306d119cc777fa900ba034cd52'] }

export const curve: Protocol = {
  name: 'Curve',
  source: 'https://docs.curve.finance/curve_dao/gauges/minter/',
  methods: [
    { method: 'mint', contracts: CRV, kind: 'reward' },
    { method: 'mint_many', contracts: CRV, kind: 'reward' },
  ],
}
