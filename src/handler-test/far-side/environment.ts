/** What makes a handler send its requests to the recording proxy, and trust it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Put into the handler's workspace. */
const CERTIFICATE = '.jobq-test-ca.pem';
const NODE_PROXY = '.jobq-test-proxy.cjs';
const NODE_PROXY_SOURCE = readFileSync(new URL('./node-proxy.cjs', import.meta.url), 'utf8');

/** Each names a file of trusted certificates, for one family of programs. */
const TRUST = [
  'SSL_CERT_FILE', // OpenSSL: Python, Ruby, Go, many others; node by the flag below
  'REQUESTS_CA_BUNDLE', // Python's requests
  'CURL_CA_BUNDLE',
  'AWS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PERL_LWP_SSL_CA_FILE',
  'DENO_CERT',
];
const PROXY = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

export interface ProxyFitting {
  files: Record<string, string>;
  env: Record<string, string>;
}

/**
 * @param workspace the working directory as the handler sees it.
 * @param nodeOptions what the configuration's own NODE_OPTIONS say.
 */
export function proxyFitting(
  proxyUrl: string,
  certificate: string,
  workspace: string,
  nodeOptions = '',
): ProxyFitting {
  const at = (name: string) => path.posix.join(workspace, name);
  const env: Record<string, string> = { PERL_LWP_ENV_PROXY: '1', NO_PROXY: '', no_proxy: '' };
  for (const name of PROXY) {
    env[name] = proxyUrl;
    env[name.toLowerCase()] = proxyUrl;
  }
  for (const name of TRUST) env[name] = at(CERTIFICATE);
  const script = at(NODE_PROXY).replace(/[\\"]/g, '\\$&');
  let trust = '--use-openssl-ca';
  if (nodeOptions.includes('--use-bundled-ca')) {
    // Node takes only one of the two. Its extra certificates cost each start 20 ms, on Node 20.
    trust = '';
    env.NODE_EXTRA_CA_CERTS = at(CERTIFICATE);
  }
  env.NODE_OPTIONS = `${nodeOptions} ${trust} --require "${script}"`.trim();
  return { files: { [CERTIFICATE]: certificate, [NODE_PROXY]: NODE_PROXY_SOURCE }, env };
}
