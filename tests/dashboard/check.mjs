// Checks dashboards against Grafana's published schema: `node check.mjs DASHBOARD.json`. The schema is that of Grafana's
// foundation SDK, which is made of it: types of the dashboard, of each kind of panel and of Prometheus' queries. The
// TypeScript compiler knows a JSON value as a literal of these types, and refuses keys that are unknown, missing or of
// another type. To show that it does, it is given faults as well.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const cache = process.env.XDG_CACHE_HOME || path.join(process.env.HOME, ".cache");
const folder = path.join(cache, "pericore/dashboard");
const ts = createRequire(path.join(folder, "package.json"))("typescript");

// JSON has no enums and no methods: an enum of texts is one of its values here, and marks of the SDK's own are left out.
const TYPES = `
import type * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import type { Dataquery } from "@grafana/grafana-foundation-sdk/prometheus";
import type * as table from "@grafana/grafana-foundation-sdk/table";
import type * as timeseries from "@grafana/grafana-foundation-sdk/timeseries";

type Json<T> = T extends string ? \`\${T}\` : T extends (infer Item)[] ? Json<Item>[]
  : T extends object ? { [Key in keyof T as Key extends \`_implements\${string}\` ? never : Key]: Json<T[Key]> } : T;
type Fields<Custom> = Omit<dashboard.FieldConfig, "custom"> & { custom?: Custom };
type Panel<Kind, Options, Custom> = Omit<dashboard.Panel, "type" | "options" | "fieldConfig" | "targets"> & {
  type: Kind; options: Options; targets: Dataquery[];
  fieldConfig: Omit<dashboard.FieldConfigSource, "defaults"> & { defaults: Fields<Custom> };
};
type Panels = Panel<"timeseries", timeseries.Options, timeseries.FieldConfig> | Panel<"table", table.Options, table.FieldConfig>;
export type Dashboard = Json<Omit<dashboard.Dashboard, "panels"> & { panels: Panels[] }>;
`;

// What the compiler has to say about, by the place that it is planted in.
const FAULTS = {
  "an unknown key": (it) => { it.titel = "x"; },
  "an unknown key of a panel": (it) => { it.panels[0].gridpos = it.panels[0].gridPos; },
  "an unknown option": (it) => { it.panels[0].options.legend.position = "bottom"; },
  "an option of another kind of panel": (it) => { it.panels[0].options.showHeader = true; },
  "a value that is none of the enum's": (it) => { it.panels[0].options.tooltip.mode = "many"; },
  "a number that is none of the enum's": (it) => { it.graphTooltip = 7; },
  "a number as text": (it) => { it.panels[0].gridPos.w = "12"; },
  "a missing key": (it) => { delete it.panels[0].gridPos.h; },
  "a query without its expression": (it) => { delete it.panels[0].targets[0].expr; },
  "an unknown key of a query": (it) => { it.panels[0].targets[0].legend = "x"; },
  "an unknown kind of panel": (it) => { it.panels[0].type = "graphs"; },
  "an unknown kind of variable": (it) => { it.templating.list[0].type = "source"; },
  "a field's limit as text": (it) => { it.panels[0].fieldConfig.defaults.min = "0"; },
  "no version of the schema": (it) => { delete it.schemaVersion; },
};

const text = readFileSync(process.argv[2], "utf8");
const literal = (value) => `import type { Dashboard } from "./types";\nconst it: Dashboard = ${JSON.stringify(value, null, 2)};\nexport { it };\n`;
const sources = new Map([["types.ts", TYPES], ["sound.ts", literal(JSON.parse(text))]]);
Object.values(FAULTS).forEach((plant, index) => {
  const faulty = JSON.parse(text);
  plant(faulty);
  sources.set(`fault${index}.ts`, literal(faulty));
});

const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
const host = ts.createCompilerHost(options);
const of = (name) => (path.dirname(name) === folder ? sources.get(path.basename(name)) : undefined);
const { fileExists, readFile, getSourceFile } = host;
host.fileExists = (name) => of(name) !== undefined || fileExists(name);
host.readFile = (name) => of(name) ?? readFile(name);
host.getSourceFile = (name, ...rest) => of(name) === undefined ? getSourceFile(name, ...rest)
  : ts.createSourceFile(name, of(name), ts.ScriptTarget.ES2022);
const program = ts.createProgram([...sources.keys()].map((name) => path.join(folder, name)), options, host);
const global = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
const complaints = (name) => {
  const file = program.getSourceFile(path.join(folder, name));
  const found = [...global, ...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return ts.formatDiagnostics(found, { getCanonicalFileName: (it) => it, getCurrentDirectory: () => folder, getNewLine: () => "\n" });
};

const types = complaints("types.ts");
const sound = types || complaints("sound.ts");
if (sound) {
  console.error(sound);
  process.exit(1);
}
const missed = Object.keys(FAULTS).filter((_, index) => complaints(`fault${index}.ts`) === "");
if (missed.length > 0) {
  console.error(`not noticed: ${missed.join("; ")}`);
  process.exit(1);
}
console.log(`${JSON.parse(text).panels.length} panels are as Grafana's schema has them; ${Object.keys(FAULTS).length} planted faults were noticed`);
