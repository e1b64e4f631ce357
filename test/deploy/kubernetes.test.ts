import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig } from '../../src/config/config.ts';
import { root, run } from '../cli/process.ts';
import { all, known, read } from './variables.ts';

/** Checks what only this project can know; test-long/kubernetes.test.ts has the rest checked by Kubernetes' schemas. */
const folder = 'deploy/kubernetes';
const base = parse(read(`${folder}/base/kustomization.yaml`));
const example = parse(read(`${folder}/overlays/example/kustomization.yaml`));
const objects = [
  ...base.resources.map((file: string) => `base/${file}`),
  ...example.resources
    .filter((file: string) => file.endsWith('.yaml'))
    .map((file: string) => `overlays/example/${file}`),
].flatMap((file) => parseAllDocuments(read(`${folder}/${file}`)).map((each) => each.toJS()));
const pod = parse(read(`${folder}/base/pod.yaml`)).spec.template.spec;
const [container] = pod.containers;

function find(kind: string, name: string) {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
}

const service = find('Deployment', 'retention').spec.template.spec;
const workloads = [
  find('Deployment', 'retention'),
  find('Deployment', 'retention-sync'),
  find('Job', 'retention-migrate'),
];

describe('the pods', () => {
  test('run as an unprivileged user, on a file system that they cannot write', () => {
    assert.match(read('Dockerfile'), new RegExp(`^USER ${pod.securityContext.runAsUser}$`, 'm'));
    assert.equal(pod.securityContext.runAsNonRoot, true);
    assert.deepEqual(pod.securityContext.seccompProfile, { type: 'RuntimeDefault' });
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.equal(pod.automountServiceAccountToken, false);
    assert.ok(container.resources.requests && container.resources.limits.memory);
    assert.deepEqual(
      container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath),
      ['/tmp'],
    );
  });

  test('get known variables, and secrets by reference', () => {
    const secret = container.env.map((each: { name: string; valueFrom: unknown }) => each.name);
    const settings = [base, example]
      .flatMap(({ configMapGenerator }) => configMapGenerator[0].literals)
      .map((literal: string) => literal.replace(/=.*/, ''));
    assert.deepEqual(
      [...secret, ...settings].filter((name) => !known.has(name)),
      [],
    );
    for (const { name, value, valueFrom } of container.env) {
      assert.equal(value, undefined, name);
      assert.equal(valueFrom.secretKeyRef.key, name);
    }
    assert.deepEqual(
      settings.filter((name) => /PASSWORD|SECRET|KEY|_URL/.test(name) && name !== 'BASE_URL'),
      [],
    );
  });

  test('run commands that exist', async () => {
    const commands = workloads.map(({ spec }) => spec.template.spec.containers[0].args);
    assert.deepEqual(commands, [['serve'], ['sync', 'shopify'], ['migrate']]);
    for (const args of commands) assert.equal((await run([...args, '--help'])).code, 0);
  });

  test('sync in one kind of pod: the example starts without CREDENTIALS_KEY', () => {
    const replicas = Object.fromEntries(
      example.replicas.map(({ name, count }: { name: string; count: number }) => [name, count]),
    );
    assert.equal(find('Deployment', 'retention-sync').spec.replicas, 0);
    assert.equal(replicas['retention-sync'], 0);
    assert.ok(!example.configMapGenerator[0].literals.includes('SYNC=off'));
  });
});

test('docs/deploy.md names every file that has values of its reader', () => {
  const [, steps = ''] = /^## Kubernetes\n(.+?)^## /ms.exec(read('docs/deploy.md')) ?? [];
  const files = globSync('**/*.yaml', { cwd: path.join(root, folder) });
  const marked = files.filter((file) => /# Yours:/.test(read(`${folder}/${file}`)));
  assert.ok(marked.length >= 4);
  const named = (file: string) => steps.includes(`\`${file.replace('overlays/example/', '')}\``);
  assert.deepEqual(
    marked.filter((file) => !named(file)),
    [],
  );
});

describe('the service in Kubernetes', () => {
  const [serving] = service.containers;

  test('is asked for its state where it answers', () => {
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map(
      (probe) => serving[probe].httpGet.path,
    );
    assert.deepEqual(paths, ['/healthz', '/healthz', '/readyz']);
    const answered = all(read('src/status.ts'), /url: '([^']+)'/g);
    for (const each of paths) assert.ok(answered.includes(each), each);
    const ports = serving.ports.map(
      ({ containerPort }: { containerPort: number }) => containerPort,
    );
    assert.deepEqual(ports, [8787, 9464]);
    assert.match(read('Dockerfile'), /^ENV .*PORT=8787/m);
    assert.ok(base.configMapGenerator[0].literals.includes('METRICS_PORT=9464'));
  });

  test('has time to stop', () => {
    const [, pause] = serving.lifecycle.preStop.exec.command;
    assert.ok(service.terminationGracePeriodSeconds > Number(pause) + parseConfig({}).stopSeconds);
  });

  test('keeps an instance while nodes are drained and instances are replaced', () => {
    const { replicas, strategy } = find('Deployment', 'retention').spec;
    assert.equal(replicas, 2);
    assert.equal(strategy.rollingUpdate.maxUnavailable, 0);
    const { maxUnavailable, selector } = find('PodDisruptionBudget', 'retention').spec;
    assert.equal(maxUnavailable, 1);
    const { labels } = find('Deployment', 'retention').spec.template.metadata;
    assert.deepEqual(selector.matchLabels, labels);
    assert.deepEqual(find('Service', 'retention').spec.selector, labels);
  });

  test('is closed to the network but for what it needs', () => {
    const [receives, sends] = ['retention-receives', 'retention-sends'].map(
      (name) => find('NetworkPolicy', name).spec,
    );
    for (const policy of [receives, sends]) {
      assert.deepEqual(policy.podSelector.matchLabels, { 'app.kubernetes.io/name': 'retention' });
    }
    assert.deepEqual(
      receives.ingress.map(({ from, ports }: { from: object[]; ports: { port: string }[] }) => [
        from.length,
        ports[0]?.port,
      ]),
      [
        [1, 'http'],
        [1, 'metrics'],
      ],
    );
    assert.deepEqual(sends.policyTypes, ['Egress']);
    const open = sends.egress.flatMap(({ ports }: { ports: { port: number }[] }) =>
      ports.map(({ port }) => port),
    );
    assert.deepEqual(open, [53, 53, 5432, 6379, 443, 465, 587, 4318]);
    assert.match(read('docs/operations.md'), /the usual port for that is 4318/);
  });
});
