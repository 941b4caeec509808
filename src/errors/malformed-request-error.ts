import { ApiError } from './api-error.ts';

/** 400 `malformed_request`: the request could not be read as a request. Not the content of a product: see ValidationFailedError. */
export class MalformedRequestError extends ApiError {
  static override readonly brand: string = 'MalformedRequestError';
  override readonly code = 'malformed_request';
}
