import { APIS } from '../../core/model/api.ts'
import { METERED_OPERATIONS, TIERS } from '../../core/model/compute-units.ts'
import { keyHeaderOf } from '../../core/model/service-key.ts'
import { booleanField, type Field, integer, oneOf, textMatching } from './field-type.ts'
import { baseUrl, duration, headerName, unitCosts } from './field-types.ts'

/** The sections of a job file: mappings that contain fields. */
export const SECTIONS = {
  service: { description: 'Data service to read the histories from.', synonyms: 'provider server' },
  catalog: { description: 'Catalog of the Iceberg tables (table: iceberg).' },
  store: { description: 'Object store for an output such as s3://bucket/prefix.' },
} as const satisfies Record<string, Pick<Field<unknown>, 'description' | 'synonyms'>>

/** The fields of the sections, as part of `FIELDS`. */
export const SECTION_FIELDS = {
  'service.baseUrl': {
    ...baseUrl(),
    description:
      'URL of the data service, with or without /v1; demo starts the embedded service. --base-url and WALLETLAKE_BASE_URL override it.',
    examples: ['https://data-api.example.com', 'demo'],
    synonyms: 'url uri baseurl rpc rpcurl endpoint apiurl host serviceurl serverurl baseuri',
    option: { name: 'base-url', value: '<url>', description: 'Base URL of the service, or demo' },
    variable: 'WALLETLAKE_BASE_URL',
  },
  'service.api': {
    ...oneOf(APIS),
    description:
      'API of the service. --api and WALLETLAKE_API override it. Defaults to the API of the host where that is known, otherwise to data-api.',
    examples: ['data-api'],
    synonyms: 'apitype apikind protocol dialect',
    option: { name: 'api', value: '<name>', description: `API of the service: ${APIS.join(', ')}` },
    variable: 'WALLETLAKE_API',
  },
  'service.apiKeyHeader': {
    ...headerName(),
    description:
      'HTTP header that carries the API key; x-glacier-api-key for the hosts of the Avalanche Data API. WALLETLAKE_API_KEY_HEADER overrides it.',
    default: keyHeaderOf(undefined),
    examples: ['x-service-api-key'],
    synonyms: 'header headername keyheader authheader',
    variable: 'WALLETLAKE_API_KEY_HEADER',
  },
  'service.timeout': {
    ...duration('1ms', '1h'),
    description: 'Timeout of one request, including its response body.',
    default: '30s',
    examples: ['1m', '500ms'],
    synonyms: 'timeoutms requesttimeout timeoutseconds',
    option: { name: 'timeout', value: '<duration>', description: 'Timeout of one request' },
  },
  'service.tier': {
    ...oneOf(TIERS),
    description:
      'Tier of the API key (none: no key), whose quota sets the rate, and the compute units of a day. Without it the rate is learned from the responses with status 429.',
    examples: ['free', 'pro'],
    synonyms: 'plan subscription quota ratelimit',
    option: { name: 'tier', value: '<name>', description: `Tier of the API key: ${TIERS.join(', ')}` },
  },
  'service.computeUnitsPerMinute': {
    ...integer(1, Number.MAX_SAFE_INTEGER),
    description: 'Compute units that the API key may use per minute. Overrides the value of the tier.',
    examples: [8000],
    synonyms: 'unitsperminute requestsperminute requestspersecond rps perminute',
  },
  'service.computeUnitsPerDay': {
    ...integer(1, Number.MAX_SAFE_INTEGER),
    description:
      'Compute units that the runs into this output may use per UTC day. Overrides the value of the tier.',
    examples: [2_000_000],
    synonyms: 'unitsperday requestsperday dailybudget dailyquota dailylimit perday',
  },
  'service.computeUnits': {
    ...unitCosts(),
    description: `Compute units per request, by operation, where they differ from those of the Avalanche Data API. The operations are ${METERED_OPERATIONS.join(', ')}.`,
    examples: [{ listing: 20, transaction: 20 }],
    synonyms: 'costs unitcosts prices',
  },
  'catalog.type': {
    ...oneOf(['files', 'rest']),
    description:
      'files: the newest file in metadata/ of each table is current. rest: a catalog with the Iceberg REST API, such as Polaris, Lakekeeper, Nessie or Unity.',
    default: 'files',
    examples: ['rest'],
  },
  'catalog.uri': {
    ...textMatching(/^https?:\/\/[^\s?#@\\]+$/i, 'an http or https URL without user and password'),
    description: 'URL of the REST catalog, without /v1.',
    examples: ['https://catalog.example.com/api/catalog'],
  },
  'catalog.warehouse': {
    ...textMatching(/^[^\s]{1,255}$/, 'the name of a warehouse'),
    description: 'Warehouse of the REST catalog, if it has several.',
    examples: ['lake'],
  },
  'catalog.namespace': {
    ...textMatching(
      /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/,
      'names of letters, digits, _ and -, separated by dots',
    ),
    description: 'Namespace of the tables in the REST catalog; created if it does not exist.',
    default: 'walletlake',
    examples: ['crypto.treasury'],
  },
  'store.endpoint': {
    ...textMatching(
      /^https?:\/\/[^\s?#@\\/]+\/?$/i,
      'an http or https URL of a host, without path, user and password',
    ),
    description:
      'URL of the object store for output. Defaults to AWS_ENDPOINT_URL_S3, then AWS_ENDPOINT_URL, then AWS itself.',
    examples: ['https://minio.example.com:9000'],
  },
  'store.region': {
    ...textMatching(/^[a-z0-9-]{1,63}$/, 'a region such as eu-central-1'),
    description:
      'Region of the bucket. Defaults to AWS_REGION, then to the AWS profile, or to us-east-1 for other stores.',
    examples: ['eu-central-1'],
  },
  'store.pathStyle': {
    ...booleanField(),
    description:
      'Address the bucket in the URL path instead of the host name. Defaults to true if endpoint is set.',
    examples: [true],
  },
} as const satisfies Record<`${keyof typeof SECTIONS}.${string}`, Field<unknown>>
