import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);

/** The settings of this project, which are strict. */
export const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);

const host = ts.createCompilerHost(options);
const parsed = new Map<string, ts.SourceFile | undefined>();
const parse = host.getSourceFile.bind(host);
// Libraries and sources are the same for every program. Parsing them is most of the time of a small one.
host.getSourceFile = (file, ...how) => {
  if (file.includes('/.generated/')) return parse(file, ...how);
  if (!parsed.has(file)) parsed.set(file, parse(file, ...how));
  return parsed.get(file);
};

let last: ts.Program | undefined;

/** Some files and everything that they import. What the program before resolved is not resolved again. */
export function programOf(files: readonly string[]): ts.Program {
  last = ts.createProgram(files, options, host, last);
  return last;
}

/** What the compiler has against some files. */
export function errorsIn(files: readonly string[]): string[] {
  const program = programOf(files);
  return files
    .flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    .map(({ file, messageText }) => {
      const where = file === undefined ? '' : `${file.fileName.split('/').at(-1)}: `;
      return where + ts.flattenDiagnosticMessageText(messageText, '\n');
    });
}
