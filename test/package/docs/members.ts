import { mkdirSync, writeFileSync } from 'node:fs';
import { errorsIn } from '../../support/compiler.ts';
import { root } from './code-blocks.ts';

/** The types whose members the docs name. */
export type MemberType = 'Options' | 'SandboxOptions';

/** Those that do not exist: compiles a file in which each name is looked up as a member of a type. */
export function missingMembers(members: readonly { type: MemberType; path: string }[]): string[] {
  const lines = members.map(({ type, path }, index) => {
    const member = path.split('.').reduce((inner, name) => `NonNullable<${inner}['${name}']>`, type);
    return `export type Member${index} = ${member};`;
  });
  const file = `${root}test/package/docs/.generated/members.ts`;
  mkdirSync(`${root}test/package/docs/.generated`, { recursive: true });
  writeFileSync(
    file,
    `import type { ClientOptions, ListQuery, RunOptions } from 'accounting-data-sdk';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
type Options = ClientOptions & ListQuery & Omit<RunOptions, keyof ClientOptions | keyof ListQuery>;
${lines.join('\n')}
export type { Options, SandboxOptions };
`,
  );
  return errorsIn([file]);
}
