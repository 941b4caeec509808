import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
  ATTR_URL_SCHEME,
  METRIC_HTTP_CLIENT_REQUEST_DURATION,
} from '@opentelemetry/semantic-conventions';
import * as every from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';
import { HTTP, OWN } from '../../../src/opentelemetry/attributes.ts';

test('takes its names from the published conventions', () => {
  expect(HTTP).toEqual({
    method: ATTR_HTTP_REQUEST_METHOD,
    resendCount: ATTR_HTTP_REQUEST_RESEND_COUNT,
    status: ATTR_HTTP_RESPONSE_STATUS_CODE,
    errorType: ATTR_ERROR_TYPE,
    address: ATTR_SERVER_ADDRESS,
    port: ATTR_SERVER_PORT,
    scheme: ATTR_URL_SCHEME,
    url: ATTR_URL_FULL,
    template: every.ATTR_URL_TEMPLATE,
    requestDuration: METRIC_HTTP_CLIENT_REQUEST_DURATION,
  });
});

test('keeps its own names apart from every name of the conventions', () => {
  const published = new Set(Object.values(every));
  for (const name of Object.values(OWN)) {
    expect(name).toMatch(/^accounting\./);
    expect(published).not.toContain(name);
  }
});
