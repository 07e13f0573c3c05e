import type { Numeric, OpenEnum, ResponseFields } from './response-fields.ts'
import type { Erc20Token, NetworkToken } from './transaction.ts'

/** A balance in the smallest unit, as decimal text. It is checked when a response is read. */
type WithBalance = { balance: string }

/** A wallet's balance of the native coin. */
export type NativeBalance = WithBalance & NetworkToken & ResponseFields<{ chainId: Numeric }>

/** A wallet's balance of an ERC-20 token. */
export type Erc20Balance = WithBalance &
  Omit<Erc20Token, 'address'> & { address: string } & ResponseFields<{
    chainId: Numeric
    tokenReputation: OpenEnum<'Malicious' | 'Benign'>
  }>

/** A wallet's balance of one token id of an ERC-1155 contract. */
export type Erc1155Balance = WithBalance & { address: string; tokenId: string } & ResponseFields<{
    chainId: Numeric
    ercType: OpenEnum<'ERC-1155'>
  }>

/** An ERC-721 token of a wallet. */
export type Erc721Balance = { address: string; tokenId: string } & ResponseFields<{
  chainId: Numeric
  name: string
  symbol: string
  ercType: OpenEnum<'ERC-721'>
}>
