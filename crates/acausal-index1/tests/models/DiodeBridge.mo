connector Pin Real v; flow Real i; end Pin;
model Diode Pin p, n; parameter Real on = 0.1; Boolean conducts;
  equation conducts = p.v > n.v; p.i = if conducts then (p.v - n.v)/on else 0; p.i + n.i = 0; end Diode;
model Source Pin p, n; equation p.v - n.v = 12*sin(314*time) - p.i; p.i + n.i = 0; end Source;
model Load Pin p, n; Real v(start = 0, fixed = true); equation v = p.v - n.v; p.i = 1e-3*der(v) + v/100; p.i + n.i = 0; end Load;
model Ground Pin p; equation p.v = 0; end Ground;
model Bridge
  Diode a, b, c, d; Source u; Load l; Ground g;
equation
  connect(u.p, a.p); connect(u.p, b.n); connect(u.n, c.p); connect(u.n, d.n);
  connect(a.n, l.p); connect(c.n, l.p); connect(b.p, l.n); connect(d.p, l.n); connect(l.n, g.p);
end Bridge;
