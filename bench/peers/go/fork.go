// SPDX-License-Identifier: MIT

// The rows that fork and join: a goroutine for each child, a WaitGroup for
// each parent, which calls its last child.  The sizes are those of
// bench/problems.
package main

import (
	"fmt"
	"sync"
	"time"
)

const (
	fibN, fibQuick          = 32, 15
	coarseSteps             = 300000000
	coarseQuick             = 30000000
	skynetWays              = 10
	skynetLeaves            = 1000000
	skynetQuick             = 1000
	skynetTurns             = 2
	queensN, queensQuick    = 13, 8
	utsSeed                 = 505
	utsRoot, utsNodes       = 2000, 4022465
	utsQuick, utsQuickNodes = 200, 6193
	utsWays                 = 8
	utsProbability          = 0.124875
	splitmixStep            = 0x9e3779b97f4a7c15
	matrixN, matrixQuick    = 1024, 128
	matrixLeaf              = 64
)

// choose is the size of a row whose quick size is not a thousandth.
func choose(full, tiny int) int {
	if quick {
		return tiny
	}
	return full
}

func reportMs(start time.Time) {
	fmt.Printf("ms %.6g\n", float64(time.Since(start).Nanoseconds())/1e6)
}

func splitmix(x uint64) uint64 {
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	var group sync.WaitGroup
	var left int
	group.Add(1)
	go func() {
		left = fib(n - 1)
		group.Done()
	}()
	right := fib(n - 2)
	group.Wait()
	return left + right
}

func fibRow() {
	n := choose(fibN, fibQuick)
	a, b := 0, 1
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	start := time.Now()
	check(fib(n) == a, "number")
	reportEach("ns", start, b-1)
}

func coarseHalf(seed uint64, steps int) uint64 {
	for i := 0; i < steps; i++ {
		seed = splitmix(seed)
	}
	return seed
}

func coarse() {
	steps := choose(coarseSteps, coarseQuick)
	done := make(chan uint64)
	start := time.Now()
	go func() { done <- coarseHalf(2, steps) }()
	left := coarseHalf(1, steps)
	right := <-done
	reportMs(start)
	if quick {
		check(left == 0x4ac782f9239d5f88, "left half")
		check(right == 0xd5cf2e490d23414a, "right half")
	} else {
		check(left == 0xc5e4213e32a659ea, "left half")
		check(right == 0x903e5dbd102aaeaf, "right half")
	}
}

func skynet(first, leaves int) int {
	if leaves == 1 {
		return first
	}
	var group sync.WaitGroup
	var part [skynetWays]int
	each, sum := leaves/skynetWays, 0
	last := skynetWays - 1
	group.Add(last)
	for i := 0; i < last; i++ {
		go func(i int) {
			part[i] = skynet(first+i*each, each)
			group.Done()
		}(i)
	}
	part[last] = skynet(first+last*each, each)
	group.Wait()
	for i := range part {
		sum += part[i]
	}
	return sum
}

func skynetRow() {
	leaves, children := choose(skynetLeaves, skynetQuick), 0
	start := time.Now()
	for i := 0; i < skynetTurns; i++ {
		check(skynet(0, leaves) == leaves*(leaves-1)/2, "sum")
	}
	for level := leaves; level > 1; level /= skynetWays {
		children += level
	}
	reportEach("ns", start, skynetTurns*children)
}

type board struct {
	n      int8
	column [15]int8
}

func safe(b *board, row, column int) bool {
	for r := 0; r < row; r++ {
		aside := int(b.column[r]) - column
		if aside == 0 || aside == row-r || aside == r-row {
			return false
		}
	}
	return true
}

func queens(b *board, row int) int {
	if row == int(b.n) {
		return 1
	}
	var group sync.WaitGroup
	var ways [15]int
	var next [15]board
	nr, sum := 0, 0
	for c := 0; c < int(b.n); c++ {
		if !safe(b, row, c) {
			continue
		}
		if nr > 0 {
			group.Add(1)
			go func(i int) {
				ways[i] = queens(&next[i], row+1)
				group.Done()
			}(nr - 1)
		}
		next[nr] = *b
		next[nr].column[row] = int8(c)
		nr++
	}
	if nr > 0 {
		ways[nr-1] = queens(&next[nr-1], row+1)
	}
	group.Wait()
	for i := 0; i < nr; i++ {
		sum += ways[i]
	}
	return sum
}

func nqueens() {
	empty := board{n: int8(choose(queensN, queensQuick))}
	start := time.Now()
	ways := queens(&empty, 0)
	reportEach("ns", start, choose(4674889, 2056))
	check(ways == choose(73712, 92), "ways")
}

func utsChild(node uint64, nth int) uint64 {
	return splitmix(node + splitmixStep*(uint64(nth)+1))
}

func walk(node uint64) int {
	if float64(node>>11)/(1<<53) >= utsProbability {
		return 1
	}
	var below [utsWays]int
	return walkBelow(node, below[:])
}

func walkBelow(node uint64, below []int) int {
	var group sync.WaitGroup
	nodes, last := 1, len(below)-1
	group.Add(last)
	for i := 0; i < last; i++ {
		go func(i int) {
			below[i] = walk(utsChild(node, i))
			group.Done()
		}(i)
	}
	below[last] = walk(utsChild(node, last))
	group.Wait()
	for _, n := range below {
		nodes += n
	}
	return nodes
}

func uts() {
	nodes := choose(utsNodes, utsQuickNodes)
	below := make([]int, choose(utsRoot, utsQuick))
	start := time.Now()
	check(walkBelow(utsSeed, below) == nodes, "nodes")
	reportEach("ns", start, nodes)
}

// Squares of n at an offset of each of the three matrices.
type product struct {
	c, a, b, n int
}

type matrices struct {
	c, a, b []float64
	stride  int
}

func (m *matrices) leaf(p product) {
	for i := 0; i < p.n; i++ {
		row := m.c[p.c+i*m.stride:][:p.n]
		for k := 0; k < p.n; k++ {
			factor := m.a[p.a+i*m.stride+k]
			other := m.b[p.b+k*m.stride:][:p.n]
			for j, x := range other {
				row[j] += factor * x
			}
		}
	}
}

func (m *matrices) multiply(p product) {
	if p.n <= matrixLeaf {
		m.leaf(p)
		return
	}
	half := p.n / 2
	for phase := 0; phase < 2; phase++ {
		var group sync.WaitGroup
		group.Add(3)
		for i := 0; i < 4; i++ {
			down, right := i/2*half*m.stride, i%2*half
			quarter := product{p.c + down + right,
				p.a + down + phase*half,
				p.b + phase*half*m.stride + right, half}
			if i == 3 {
				m.multiply(quarter)
				continue
			}
			go func() {
				m.multiply(quarter)
				group.Done()
			}()
		}
		group.Wait()
	}
}

func matmul() {
	n := choose(matrixN, matrixQuick)
	m := matrices{make([]float64, n*n), make([]float64, n*n),
		make([]float64, n*n), n}
	for i := range m.a {
		m.a[i], m.b[i] = float64(i*3%7), float64(i*5%7)
	}
	start := time.Now()
	m.multiply(product{0, 0, 0, n})
	reportMs(start)
	for i := 0; i < n; i += 31 {
		j, sum := i*7%n, 0.0
		for k := 0; k < n; k++ {
			sum += m.a[i*n+k] * m.b[k*n+j]
		}
		check(m.c[i*n+j] == sum, "product")
	}
}
