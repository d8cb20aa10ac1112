package strict

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"headroom/model"
)

// What a document may be: beyond these it is not one that a person wrote.
const (
	MaxSize   = 1 << 20 // bytes
	MaxTokens = 50_000  // words, numbers and signs; bounds what of the parser is not linear
	MaxDepth  = 32      // maps and lists in each other
)

// Parse reads one document. The name stands for it in errors.
func Parse(data []byte, name string) (*Node, error) {
	text, err := plain(data, name)
	if err != nil {
		return nil, err
	}
	return parse(text, func(line, column int) place {
		return place{source: text, line: line, column: column}
	})
}

// ParseValue reads a value that stands in a line of its own, such as one on the command line; errors about it
// begin with name, which should show the line.
func ParseValue(value, name string) (*Node, error) {
	text, err := plain([]byte(value), name)
	if err != nil {
		return nil, err
	}
	return parse(text, func(int, int) place { return place{source: &source{name: name}} })
}

// plain checks that data is text of a believable size and cuts it into lines.
func plain(data []byte, name string) (*source, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%s: is larger than %d bytes, the most that is read", name, MaxSize)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: is not UTF-8 text", name)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return &source{name: name, lines: strings.Split(text, "\n")}, nil
}

func parse(text *source, at func(line, column int) place) (*Node, error) {
	tokens := lexer.Tokenize(strings.Join(text.lines, "\n"))
	c := converter{at: at}
	if err := c.refuse(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if syntax := yaml.Error(nil); errors.As(err, &syntax) {
		return nil, &Error{place: c.place(syntax.GetToken()), cause: fmt.Errorf("this is not YAML: %s", syntax.GetMessage())}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: this is not YAML: %w", text.name, err)
	}
	var root *Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			return nil, &Error{place: c.place(doc.Body.GetToken()),
				cause: errors.New("a second document begins: one for each file")}
		default:
			root = c.node(doc.Body, "")
		}
	}
	if root == nil {
		return nil, &Error{place: at(1, 1), cause: errors.New("the document is empty")}
	}
	if err := c.errors.join(); err != nil {
		return nil, err
	}
	return root, nil
}

// converter makes nodes of the parser's tree.
type converter struct {
	at     func(line, column int) place
	errors errorList
}

func (c *converter) place(t *token.Token) place {
	if t == nil || t.Position == nil {
		return c.at(1, 1)
	}
	return c.at(t.Position.Line, t.Position.Column)
}

func (c *converter) fault(t *token.Token, format string, args ...any) error {
	return &Error{place: c.place(t), cause: fmt.Errorf(format, args...)}
}

// refuse reports the first token that is beyond what the package reads. It comes before the parser, whose
// recursion it bounds.
func (c *converter) refuse(tokens token.Tokens) error {
	if len(tokens) > MaxTokens {
		return c.fault(tokens[MaxTokens], "the document has %d words and signs: at most %d", len(tokens), MaxTokens)
	}
	flow := 0
	var columns []int // of the block maps and lists that are open
	for i, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType:
			return c.fault(t, "anchors and aliases (%s) are not read here: write the value out", t.Value)
		case token.TagType:
			return c.fault(t, "tags (%s) are not read here: leave it out", t.Value)
		case token.MergeKeyType:
			return c.fault(t, "merge keys (<<) are not read here: write the keys out")
		case token.DirectiveType:
			return c.fault(t, "directives (%%) are not read here: leave it out")
		case token.MappingKeyType:
			return c.fault(t, "the long form of keys (?) is not read here: write key: value")
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			columns = open(columns, t.Position.Column)
		case token.MappingValueType:
			if flow <= 0 && i > 0 {
				columns = open(columns, tokens[i-1].Position.Column)
			}
		}
		if flow+len(columns) > MaxDepth {
			return c.fault(t, "maps and lists are nested more than %d deep", MaxDepth)
		}
	}
	return nil
}

// open returns the columns of the open maps and lists after one more begins or goes on at column.
func open(columns []int, column int) []int {
	for len(columns) > 0 && columns[len(columns)-1] >= column {
		columns = columns[:len(columns)-1]
	}
	return append(columns, column)
}

func (c *converter) node(n ast.Node, path string) *Node {
	out := &Node{Path: path, place: c.place(n.GetToken())}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		out.Kind = Map
		if !n.IsFlowStyle && len(n.Values) > 0 {
			out.place = c.place(n.Values[0].Key.GetToken())
		}
		c.fields(out, n.Values)
	case *ast.MappingValueNode:
		out.Kind, out.place = Map, c.place(n.Key.GetToken())
		c.fields(out, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.Kind = List
		for i, v := range n.Values {
			out.Items = append(out.Items, c.node(v, fmt.Sprintf("%s[%d]", path, i)))
		}
	case *ast.StringNode:
		out.Kind, out.Text = Scalar, n.Value
		out.Quoted = n.Token.Type == token.DoubleQuoteType || n.Token.Type == token.SingleQuoteType
	case *ast.LiteralNode:
		out.Kind, out.Text, out.Quoted = Scalar, n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Scalar, n.GetToken().Value
	default:
		c.errors.add(c.fault(n.GetToken(), "%s is not read here", n.Type().YAMLName()))
	}
	return out
}

// fields adds the entries of a map.
func (c *converter) fields(out *Node, values []*ast.MappingValueNode) {
	lines := map[string]int{}
	for _, v := range values {
		t := v.Key.GetToken()
		f := Field{Key: t.Value, place: c.place(t)}
		if first, twice := lines[f.Key]; twice {
			c.errors.add(c.fault(t, "%s is there twice, first in line %d: leave one", model.Clip(join(out.Path, f.Key)), first))
			continue
		}
		lines[f.Key] = f.place.line
		f.Value = c.node(v.Value, join(out.Path, f.Key))
		if f.Value.Kind == Null {
			f.Value.place = f.place
		}
		out.Fields = append(out.Fields, f)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
