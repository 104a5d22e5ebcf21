// The API's types of policies.

export interface Policy {
  version: string;
  name?: string | null;
  first_used: string | null;
  last_used: string | null;
  runs: number;
  current: boolean;
}
export interface Section {
  title: string;
  sentences: string[];
}
export interface PolicyText {
  version: string;
  text: string;
  in_words: Section[];
}
export interface Difference {
  where: string;
  a: string | null;
  b: string | null;
}
export interface Comparison {
  a: string;
  b: string;
  differences: Difference[];
}

export const short = (version: string): string => version.slice(0, 10);
export const nameOf = (policy: Policy): string => policy.name || short(policy.version);
