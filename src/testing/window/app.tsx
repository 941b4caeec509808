import type { ComponentType } from 'preact';
import { Faults } from './faults.tsx';
import { Copy } from './parts.tsx';
import { Records } from './records.tsx';
import { Requests } from './requests.tsx';
import { Service } from './service.tsx';
import { connection, entries, notice, place, revision, state } from './store.ts';

const PAGES: Readonly<Record<string, { readonly title: string; readonly page: ComponentType }>> = {
  requests: { title: 'Requests', page: Requests },
  records: { title: 'Records', page: Records },
  faults: { title: 'Faults', page: Faults },
  service: { title: 'Service', page: Service },
};

export function App() {
  const [name = ''] = place.value;
  const current = Object.hasOwn(PAGES, name) ? name : 'requests';
  const { page: Page } = PAGES[current] as (typeof PAGES)[string];
  return (
    <>
      <header class="top">
        <h1>
          <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
            <rect x="1.5" y="1.5" width="21" height="21" rx="6" />
            <path d="M6 8h7M6 12h12M6 16h4" />
          </svg>
          Sandbox
        </h1>
        <p class="address">
          <code>{location.origin}</code>
          <Copy text={location.origin} />
        </p>
        <Connection />
        <nav aria-label="Pages">
          {Object.entries(PAGES).map(([key, { title }]) => (
            <a key={key} href={`#${key}`} aria-current={key === current ? 'page' : undefined}>
              {title}
              <Badge page={key} />
            </a>
          ))}
        </nav>
      </header>
      <main>{state.value === undefined ? <p class="loading">Loading …</p> : <Page />}</main>
      <div class="notices" role="status" aria-live="polite">
        {notice.value !== undefined && (
          <p class={notice.value.isError ? 'notice error' : 'notice'}>
            {notice.value.text}
            <button
              type="button"
              aria-label="Dismiss"
              onClick={() => {
                notice.value = undefined;
              }}
            >
              ×
            </button>
          </p>
        )}
      </div>
    </>
  );
}

function Badge({ page }: { readonly page: string }) {
  const counts: Readonly<Record<string, number>> = {
    requests: revision.value >= 0 ? entries.size : 0,
    faults: state.value?.faults.filter(({ active }) => active).length ?? 0,
  };
  const count = counts[page] ?? 0;
  return count === 0 ? null : <b class="count">{count.toLocaleString('en')}</b>;
}

function Connection() {
  const text = { connecting: 'Connecting', open: 'Live', lost: 'Not reachable, trying again' }[
    connection.value
  ];
  return (
    <p class={`connection ${connection.value}`} role="status">
      <i /> {text}
    </p>
  );
}
