package cuda

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"
)

// qap is the polynomials of a circuit's wires at one point: its quadratic arithmetic program (Gennaro, Gentry, Parno,
// Raykova: Quadratic Span Programs and Succinct NIZKs without PCPs, EUROCRYPT 2013).
type qap struct {
	a, b, c []fr.Element // by wire
	z       fr.Element   // X^n - 1
}

// evaluate returns the program at x, which must not be on the domain.
func evaluate(system *cs.R1CS, domain *fft.Domain, x fr.Element) qap {
	wires := system.GetNbPublicVariables() + system.GetNbSecretVariables() + system.NbInternalVariables
	q := qap{a: make([]fr.Element, wires), b: make([]fr.Element, wires), c: make([]fr.Element, wires)}
	one := fr.One()
	q.z.Exp(x, new(big.Int).SetUint64(domain.Cardinality)).Sub(&q.z, &one)
	lagrange := lagrangeAt(domain, x, q.z, system.GetNbConstraints())
	rows := system.GetR1CIterator()
	i := 0
	for row := rows.Next(); row != nil; row = rows.Next() {
		for _, side := range []struct {
			terms constraint.LinearExpression
			sums  []fr.Element
		}{{row.L, q.a}, {row.R, q.b}, {row.O, q.c}} {
			for _, term := range side.terms {
				var product fr.Element
				product.Mul(&system.Coefficients[term.CoeffID()], &lagrange[i])
				sum := &side.sums[term.WireID()]
				sum.Add(sum, &product)
			}
		}
		i++
	}
	return q
}

// lagrangeAt returns the first n Lagrange polynomials of the domain at x: L_i = w^i z / (N (x - w^i)), z = x^N - 1.
func lagrangeAt(domain *fft.Domain, x, z fr.Element, n int) []fr.Element {
	differences, powers := make([]fr.Element, n), make([]fr.Element, n)
	w := fr.One()
	for i := range powers {
		powers[i] = w
		differences[i].Sub(&x, &w)
		w.Mul(&w, &domain.Generator)
	}
	values := fr.BatchInvert(differences)
	z.Mul(&z, &domain.CardinalityInv)
	for i := range values {
		values[i].Mul(&values[i], &powers[i]).Mul(&values[i], &z)
	}
	return values
}
