/*
 * What a read has met, and what follows from it. This file is the only one that decides whether a record can be missing:
 * `complete` of pages, reports and copies, and `equal` of `verify`, are functions of a value of the type `Evidence`.
 *
 * A read starts with what would prove it, such as that each interval of ids came in one response. What it meets later only
 * weakens that. So does what an incremental run meets: only a full read replaces the evidence of a copy.
 */

/** Whether a read can have missed a record: `certain` if not, `likely` complete if it can, `undefined` if that is not known. */
export type Completeness = 'certain' | 'likely' | undefined;

/** The name of a fact: see {@link evidenceFacts}. */
export type EvidenceFact =
  | 'whole_intervals'
  | 'stated_end'
  | 'one_response'
  | 'cursor_ended'
  | 'link_ended'
  | 'first_page'
  | 'several_pages'
  | 'repeated_rows'
  | 'cursor_open'
  | 'link_open'
  | 'counting_links'
  | 'no_link'
  | 'other_order'
  | 'hidden_page'
  | 'lost_rows'
  | 'cut_response'
  | 'usual_length'
  | 'unlisted_record'
  | 'empty_list';

/** What a fact means. */
export interface FactMeaning {
  /** What it makes of `complete`, if no other fact is weaker. */
  readonly complete: Completeness;
  /** The pagination in which it is met; undefined: any. */
  readonly pagination: 'keyset' | 'page' | 'none' | 'link' | 'custom' | undefined;
  /** When a read has it. */
  readonly when: string;
}

/** The facts of {@link Evidence}: what each one makes of `complete`, and when a read has it. */
export const evidenceFacts: Readonly<Record<EvidenceFact, FactMeaning>> = {
  whole_intervals: {
    complete: 'certain',
    pagination: 'keyset',
    when: 'each interval of ids came whole in one response, in the order of ids',
  },
  stated_end: {
    complete: 'certain',
    pagination: 'none',
    when: 'the response is the whole list, and says so: by a total, or because it has no link to a next page beside others',
  },
  one_response: { complete: 'certain', pagination: 'none', when: 'the response is the whole list' },
  cursor_ended: {
    complete: 'certain',
    pagination: 'custom',
    when: '`next` of the cursor returned `undefined`',
  },
  link_ended: {
    complete: 'certain',
    pagination: 'link',
    when: 'the last response has no link to a next page: those before it had one, or it says that there is none',
  },
  first_page: { complete: undefined, pagination: 'page', when: 'the list has had one page so far' },
  several_pages: {
    complete: 'likely',
    pagination: 'page',
    when: 'the list has several pages, and a record that is deleted during the read can hide another one',
  },
  repeated_rows: {
    complete: 'likely',
    pagination: 'page',
    when: 'records came twice, so others may have come on no page',
  },
  cursor_open: { complete: 'likely', pagination: 'custom', when: 'the cursor has not ended' },
  link_open: { complete: 'likely', pagination: 'link', when: 'the response has a link to a next page' },
  counting_links: {
    complete: 'likely',
    pagination: 'link',
    when: 'the links have whole numbers, which may count pages or rows: a record that is deleted during the read can hide another one',
  },
  no_link: {
    complete: 'likely',
    pagination: 'link',
    when: 'the only response has no link to another page, and does not say that there is none',
  },
  other_order: {
    complete: 'likely',
    pagination: 'keyset',
    when: 'the service does not list in the order of ids, so a response that it shortened looks like a whole one',
  },
  hidden_page: {
    complete: 'likely',
    pagination: 'keyset',
    when: 'the service hides a page of records or more',
  },
  lost_rows: {
    complete: 'likely',
    pagination: undefined,
    when: 'a response lacked a record that another one showed: it was hidden, was deleted, or is new',
  },
  cut_response: {
    complete: 'likely',
    pagination: 'keyset',
    when: 'a response that looked like the last one was followed by more records: the service cuts pages, for example by bytes',
  },
  usual_length: {
    complete: 'likely',
    pagination: 'none',
    when: 'the response is as long as pages often are (10, 20, 25, 30, 50, 100, 200, 250, 500 or 1,000 records), or as one of another collection of the run, from ten records on, so it may be the first page of several',
  },
  unlisted_record: {
    complete: 'likely',
    pagination: undefined,
    when: 'a request by id found a record that the list did not show',
  },
  empty_list: {
    complete: 'likely',
    pagination: undefined,
    when: 'the copy has records, but the list has none',
  },
};

/** What the reads of a collection have met. `complete` follows from it: it is the weakest that a fact allows. */
export interface Evidence {
  /** Each once, in the order of {@link evidenceFacts}. */
  readonly facts: readonly EvidenceFact[];
  /** The rows of the longest response, which may be the size of a page. */
  readonly longest: number;
}

const NAMES = Object.keys(evidenceFacts) as readonly EvidenceFact[];

/** The evidence with these facts. */
export function evidenceOf(facts: { readonly [Name in EvidenceFact]?: boolean }, longest = 0): Evidence {
  return { facts: NAMES.filter((name) => facts[name] === true), longest };
}

/** What a collection has of which nothing was read. */
export const NO_EVIDENCE: Evidence = { facts: [], longest: 0 };

/** What two reads have met together. */
export function joinedEvidence(a: Evidence, b: Evidence): Evidence {
  const facts = NAMES.filter((name) => a.facts.includes(name) || b.facts.includes(name));
  return { facts, longest: Math.max(a.longest, b.longest) };
}

/** From so many rows on, two responses that are equally long are seldom chance. */
const SHORTEST_PAGE = 10;

/** The evidence of a collection beside that of others in the same run: pages of a service are equally long. */
export function evidenceBeside(evidence: Evidence, others: readonly Evidence[]): Evidence {
  const { facts, longest } = evidence;
  const isPage = longest >= SHORTEST_PAGE && others.some((other) => other.longest === longest);
  const mayBePage = facts.includes('one_response') && isPage;
  return mayBePage ? joinedEvidence(evidence, evidenceOf({ usual_length: true })) : evidence;
}

/** Whether a value from a store is evidence. */
export function isEvidence(value: unknown): boolean {
  const { facts, longest } = (value ?? {}) as Partial<Evidence>;
  const isKnown = Array.isArray(facts) && facts.every((name) => NAMES.includes(name));
  return isKnown && Number.isSafeInteger(longest);
}

/** The evidence, and what follows from it, as pages and reports have both. */
export function verdictOf(evidence: Evidence): {
  readonly evidence: Evidence;
  readonly complete: Completeness;
} {
  return { evidence, complete: completeOf(evidence) };
}

const WEAKEST_FIRST: readonly Completeness[] = ['likely', undefined, 'certain'];

function completeOf({ facts }: Evidence): Completeness {
  const all: readonly Completeness[] = facts.map((name) => evidenceFacts[name].complete);
  return WEAKEST_FIRST.find((one) => all.includes(one));
}

/** What follows from the evidence of several collections: the weakest of them. */
export function verdictOfAll(all: readonly Evidence[]): { readonly complete: Completeness } {
  const completes = all.map(completeOf);
  return { complete: WEAKEST_FIRST.find((one) => completes.includes(one)) };
}

/** How one collection of a copy was compared. */
interface Compared {
  readonly evidence: Evidence;
  /** How many differences were found. */
  readonly differences: number;
  /** How many records could not be compared. */
  readonly unconfirmed: number;
}

/** Whether a copy equals the service: `true` only if that is proven. */
export function equalityOf(collections: readonly Compared[]): { readonly equal: boolean | 'likely' } {
  if (collections.some(({ differences }) => differences > 0)) return { equal: false };
  const isProven = ({ evidence, unconfirmed }: Compared) =>
    completeOf(evidence) === 'certain' && unconfirmed === 0;
  return { equal: collections.every(isProven) || 'likely' };
}
