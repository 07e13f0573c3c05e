import type { Protocol } from './protocol.ts'

/** Callers send more than the price, and the contracts return the rest. */
const CONTROLLERS = {
  '1': ['0x253553366da8546fc250f225fe3d25d0c782303b', '0x283af0b28c62c092c9727f1ee09c02ca627eb7f5'],
}

export const ens: Protocol = {
  name: 'ENS',
  source: 'https://docs.ens.domains/learn/deployments',
  methods: [
    { method: 'register', contracts: CONTROLLERS, kind: 'payment' },
    { method: 'registerWithConfig', contracts: CONTROLLERS, kind: 'payment' },
    { method: 'renew', contracts: CONTROLLERS, kind: 'payment' },
  ],
}
