import { FEE_MODES, type FeeMode } from '../../core/model/model.ts'
import { type Field, oneOf } from './field-type.ts'
import { integer } from './integer.ts'

/** The fields that decide how exact transaction fees are. */
export const FEE_FIELDS = {
  fees: {
    ...oneOf<FeeMode>(FEE_MODES),
    description:
      'Fees of transactions of type 2 and later that a wallet of the job sent. exact requests the details of each; listed takes the listed gas price, which may be the fee cap; auto probes what the service lists, and requests details only if that is not the price paid.',
    default: 'auto',
    examples: ['exact', 'listed'],
    synonyms: 'fee gas gasfees gasprice transactionfees',
    option: {
      name: 'fees',
      value: '<mode>',
      description: `Fees of type-2 transactions: ${FEE_MODES.join(', ')}`,
    },
  },
  feesBudget: {
    ...integer(0, Number.MAX_SAFE_INTEGER),
    description:
      'Maximum number of details that a run with fees auto requests. If more are needed, the listed prices stay, as upper bounds.',
    default: 2000,
    examples: [10_000],
    synonyms: 'feebudget maxfees feelimit',
    option: {
      name: 'fees-budget',
      value: '<n>',
      description: 'Maximum details that --fees auto requests in a run (default: 2000)',
    },
  },
} as const satisfies Record<string, Field<unknown>>
