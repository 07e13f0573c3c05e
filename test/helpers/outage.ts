import type { DataService, ServiceRequest } from '../../src/demo-server/data-service.ts'
import { errorResponse, HttpError } from '../../src/demo-server/http-error.ts'

/** The status of a request in an outage; undefined if it is served. */
export type Outage = (request: ServiceRequest) => 500 | 502 | 503 | undefined

/** Wraps a service so that it answers some requests with the status of an outage. */
export function withOutage<Service extends DataService>(service: Service, statusOf: Outage): Service {
  return {
    ...service,
    handle(request) {
      const status = statusOf(request)
      return status === undefined
        ? service.handle(request)
        : errorResponse(new HttpError(status, 'The service is down.'))
    },
  }
}
