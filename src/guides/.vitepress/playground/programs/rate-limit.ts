import { createClient } from 'accounting-data-sdk';

// Without its rate limiter the client meets a 429, and waits as
// long as Retry-After says. Remove the option: it slows down
// before, and no request is rejected.
const client = createClient({ rateLimiter: false });

for (const id of ['1', '2', '3', '4', '5', '6', '7', '8']) {
  const account = await client.accounts.get(id);
  console.log(account.id, client.rateLimit?.remaining, 'left');
}
