import { Code } from './parts.tsx';
import { state } from './store.ts';

/** What to do first. */
export function Empty() {
  const key = state.value?.keys.full?.key ?? '…';
  const lines = [`ACCOUNTING_BASE_URL=${location.origin}`, `ACCOUNTING_API_KEY=${key}`].join('\n');
  return (
    <section class="empty">
      <h2>Point your connector at this sandbox</h2>
      <p>Its requests appear here as they arrive.</p>
      <div class="empty-ways">
        <Code label=".env" text={lines} />
        <Code label="A first request" text={'npx accounting-data-sdk pull accounts'} />
        <Code
          label="From any language"
          text={`curl -H 'X-AUTH-TOKEN: ${key}' \\\n  ${location.origin}/api/public/v1/accounts`}
        />
      </div>
      <p>
        Then make it harder: <a href="#faults">add a fault</a>, or <a href="#records">change a record</a>{' '}
        while your connector runs.
      </p>
    </section>
  );
}
