/** Which checks hold a service to a statement of the contract, or why none can. */
export interface Coverage {
  /** The statement, as the contract has it. */
  readonly says: string;
  /** Parts of check names: each stands for every check whose name holds it. */
  readonly checks?: readonly string[];
  /** Why no request can show it. */
  readonly because?: string;
}

/** Statements by the section of the contract that they stand in. */
export type Sections = Readonly<Record<string, readonly Coverage[]>>;

/** A statement that checks hold a service to. */
export const covered = (says: string, ...checks: string[]): Coverage => ({ says, checks });

/** A statement that no request can show, and why. */
export const told = (says: string, because: string): Coverage => ({ says, because });

export const NOT_SHOWN = 'not shown: no service can break it; the sandbox has options for it';
export const CLIENT = 'about the client';
export const BEYOND = 'about what is outside of the contract';
export const TELLS = 'introduces what follows';
